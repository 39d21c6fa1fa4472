package conformance_test

import (
	"fmt"
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
		run:       checkExplicitSize,
		elsewhere: []string{"imagegen/engine.TestProviderOutcomes", "imagegen/engine/internal/picture.TestCoverCropKeepsTheCentre"},
	},
	{
		name: "sizes that are refused",
		lines: []string{
			"contract: | `size` | `auto`, or two integers",
			"contract: | `size` → `aspect_ratio` |",
		},
		run: checkRefusedSize,
	},
	{
		name: "size auto",
		lines: []string{
			"spec: | quality | string | Resolution tier",
			"spec: | size | string | no |",
			"contract: | `size` → `aspect_ratio` |",
			"contract: | tier (response `quality`) |",
		},
		run: checkAutoSize,
	},
	{
		name: "the bounds of the tiers",
		lines: []string{
			"contract: | tier (response `quality`) |",
		},
		run:       checkTierBounds,
		elsewhere: []string{"imagegen.TestTierOf", "imagegen/engine.TestPolicies", "cmd/imagegend/conformance.TestPolicyOfAnEmbedder"},
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

func checkExplicitSize(t *testing.T, s *service) {
	a := s.account(t, 100)
	for size, ratio := range map[string]string{
		"64x64": "1:1", "64x48": "4:3", "48x64": "3:4", "48x32": "3:2", "32x48": "2:3", "64x36": "16:9", "36x64": "9:16",
		"80x64": "5:4", "64x80": "4:5", "168x72": "21:9", "72x168": "9:21", "64x32": "2:1", "32x64": "1:2", "96x32": "3:1", "32x96": "1:3",
		"16x16": "1:1", "1023x17": "", "101x100": "1:1", "303x100": "3:1", "100x303": "1:3", "57x43": "4:3", "66x54": "5:4",
		"264x100": "21:9", "265x100": "3:1", "100x265": "1:3", // nearest by the logarithm, to which 21:9 and 3:1 meet at √7
	} {
		if ratio == "" {
			a.post(t, fox(object{"size": size})).refused(t, http.StatusBadRequest, "invalid_request", size, "3:1")
			continue
		}
		g := a.generated(t, object{"size": size})
		var w, h int
		fmt.Sscanf(size, "%dx%d", &w, &h)
		same(t, []any{g["size"], g["aspect_ratio"]}, []any{size, ratio})
		image := g["images"].([]any)[0].(object)
		same(t, []any{image["width"], image["height"]}, []any{w, h})
		same(t, s.image(t, image["url"]).Bounds().Size().String(), fmt.Sprintf("(%d,%d)", w, h))
	}
}

func checkRefusedSize(t *testing.T, s *service) {
	a := s.account(t, 10)
	for _, size := range []string{
		"", "Auto", "64", "64x", "x48", "64x48x1", "64X48", "64×48", "64*48", "64 x 48", " 64x48", "64x48 ", "+64x48", "-64x48", "064x48", "64x048",
		"64.0x48", "0x48", "15x16", "16x15", "8193x8192", "8192x8193", "99999999999999999999x16", "1e3x1e3", "4:3", "1024x1024px",
	} {
		a.post(t, fox(object{"size": size})).refused(t, http.StatusBadRequest, "invalid_request", "size", "16", "8192")
	}
	// The nearest size that can be had is named.
	a.post(t, fox(object{"size": "304x100"})).refused(t, http.StatusBadRequest, "invalid_request", "304x100", "3:1", "304x101")
	a.post(t, fox(object{"size": "310x100"})).refused(t, http.StatusBadRequest, "invalid_request", "310x100", "3:1", "310x103")
	a.post(t, fox(object{"size": "100x310"})).refused(t, http.StatusBadRequest, "invalid_request", "100x310", "1:3", "103x310")
	same(t, a.credits(t), 10)
}

func checkAutoSize(t *testing.T, s *service) {
	a := s.account(t, 100)
	for _, c := range []struct {
		quality, tier string
		price         int
	}{{"auto", "1K", 1}, {"low", "1K", 1}, {"medium", "2K", 2}, {"high", "4K", 4}} {
		g := a.generated(t, object{"size": "auto", "quality": c.quality})
		same(t, []any{g["size"], g["aspect_ratio"], g["requested_quality"], g["quality"], g["usage"].(object)["credits"]},
			[]any{"auto", "auto", c.quality, c.tier, c.price})
		image := g["images"].([]any)[0].(object)
		w, h := image["width"].(int), image["height"].(int)
		same(t, tierOf(w*h), c.tier)
		if w != h {
			t.Errorf("%dx%d is not 1:1", w, h)
		}
	}
	wide := a.form(t, part{name: "size", value: "auto"}, part{name: "reference_image", value: string(picture(90, 40)), file: "wide.png"}).
		is(t, http.StatusOK).object(t)
	image := wide["images"].([]any)[0].(object)
	same(t, []any{wide["aspect_ratio"], image["width"].(int) * 9, tierOf(image["width"].(int) * image["height"].(int))},
		[]any{"auto", image["height"].(int) * 21, "1K"})
}

func tierOf(pixels int) string {
	switch {
	case pixels <= 1_700_000:
		return "1K"
	case pixels <= 4_400_000:
		return "2K"
	}
	return "4K"
}

func checkTierBounds(t *testing.T, s *service) {
	a := s.stuck(t, 100)
	for _, c := range []struct {
		size, quality, tier, ratio string
		price                      int
	}{
		{"16x16", "auto", "1K", "1:1", 1},
		{"1700x1000", "low", "1K", "16:9", 1},
		{"1001x1700", "auto", "2K", "9:16", 2},
		{"2200x2000", "auto", "2K", "1:1", 2},
		{"2201x2000", "low", "4K", "1:1", 4},
		{"8192x8192", "auto", "4K", "1:1", 4},
		{"64x48", "high", "1K", "4:3", 1}, // the effort asked for changes nothing
	} {
		g := a.queued(t, object{"size": c.size, "quality": c.quality})
		same(t, []any{g["quality"], g["aspect_ratio"], g["requested_quality"], g["usage"].(object)["credits_requested"]},
			[]any{c.tier, c.ratio, c.quality, c.price})
	}
}

func checkQualityFirst(t *testing.T, s *service) {
	a := s.start(t, settings{policy: "quality-first"}).account(t, 100)
	for quality, tier := range map[string]string{"auto": "1K", "low": "1K", "medium": "2K", "high": "4K"} {
		g := a.generated(t, object{"quality": quality})
		same(t, []any{g["quality"], g["aspect_ratio"], g["size"]}, []any{tier, "4:3", "64x48"})
	}
	same(t, a.generated(t, object{"size": "auto", "quality": "medium"})["quality"], "2K")
	a.post(t, fox(object{"size": "2048x2048", "quality": "low"})).refused(t, http.StatusBadRequest, "invalid_request", "2048x2048", "2K", "1K")
}
