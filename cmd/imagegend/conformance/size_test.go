package conformance_test

import (
	"net/http"
	"testing"
)

var sizeChecks = []check{
	{
		name: "an explicit size is delivered exactly",
		lines: []string{
			"spec: | size | string | no |",
			"spec: | aspect_ratio | string |",
			"contract: One rule above all: **nothing that a caller asked for is silently dropped",
			"contract: | `size` | `auto`, or two integers",
			"contract: | `size` → `aspect_ratio` |",
			"contract: | tier (response `quality`) |",
		},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen.TestNearestRatio",
			"imagegen.TestChooseExplicitSizes", "imagegen/engine.TestProviderOutcomes",
			"imagegen/internal/picture.TestCoverCropKeepsTheCentre"},
	},
	{
		name: "sizes that are refused",
		lines: []string{
			"contract: | `size` | `auto`, or two integers",
			"contract: | `size` → `aspect_ratio` |",
		},
		elsewhere: []string{"imagegen.TestParseSize", "imagegen/engine.TestRefusedSizeNamesTheNearest",
			"imagegen/httpapi.TestJSONRefusals"},
	},
	{
		name: "size auto",
		lines: []string{
			"spec: | quality | string | Resolution tier",
			"spec: | size | string | no |",
			"contract: | `size` → `aspect_ratio` |",
			"contract: | tier (response `quality`) |",
		},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen.TestChooseByTheFirstReference",
			"imagegen/engine.TestPolicies"},
	},
	{
		name: "the bounds of the tiers",
		lines: []string{
			"contract: | tier (response `quality`) |",
		},
		elsewhere: []string{"imagegen.TestTierOf", "imagegen/engine.TestPolicies",
			"cmd/imagegend/conformance.TestPolicyOfAnEmbedder"},
	},
	{
		name:  "quality first",
		lines: []string{"contract: | tier (response `quality`) |"},
		run:   checkQualityFirst,
	},
	{
		name:      "effort",
		lines:     []string{"contract: | `quality` also |"},
		elsewhere: []string{"cmd/imagegend/conformance.TestEffort"},
	},
}

func checkQualityFirst(t *testing.T, s *service) {
	a := s.start(t, settings{policy: "quality-first"}).account(t, 100)
	for quality, tier := range map[string]string{"auto": "1K", "low": "1K", "medium": "2K", "high": "4K"} {
		g := a.generated(t, object{"quality": quality})
		same(t, []any{g["quality"], g["aspect_ratio"], g["size"]}, []any{tier, "4:3", "64x48"})
	}
	same(t, a.generated(t, object{"size": "auto", "quality": "medium"})["quality"], "2K")
	a.post(t, fox(object{"size": "2048x2048", "quality": "low"})).refused(t, http.StatusBadRequest, "invalid_request",
		"2048x2048", "2K", "1K")
}
