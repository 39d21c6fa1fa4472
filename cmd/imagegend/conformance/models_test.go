package conformance_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"
)

var modelChecks = []check{
	{
		name: "the model listing",
		lines: []string{
			"spec: Lists available models with their capabilities",
			"spec: The model listing gives, for each model",
			"spec: | model id |",
			"spec: | provider |",
			"spec: | credits | Credits per image",
			"spec: | default options |",
			"spec: | supported qualities (tiers) |",
			"spec: | supported ratios |",
			"spec: | reference images | Maximum number",
			"spec: | GET | /api/v1/models |",
			"spec: Request: no body, no parameters.",
			"spec: Response: the catalog of models",
			"contract: `GET /api/v1/models` 200:",
			`contract: {"object":"list","data":[{"id","object":"model"`,
			"contract: `--dev` and `--models fake` list one model",
		},
		run: checkModelListing,
	},
	{
		name: "a tier costs what is listed",
		lines: []string{
			"spec: | credits | Credits per image",
			"spec: | model | string | Model id used.",
			"contract: `--dev` and `--models fake` list one model",
		},
		elsewhere: []string{"imagegen/client.TestOverHTTP"},
	},
	{
		name: "several models",
		lines: []string{
			"spec: | model id |",
			"spec: | model | string | yes | Must equal the listed model id.",
			"spec: Generates images from a text prompt with a model chosen by the caller.",
			"contract: `--dev` and `--models fake` list one model",
			"contract: | unknown model |",
		},
		run: checkSeveralModels,
	},
}

var ratios = []any{"auto", "1:1", "4:3", "3:4", "3:2", "2:3", "16:9", "9:16", "5:4", "4:5", "21:9", "9:21", "2:1",
	"1:2", "3:1", "1:3"}

// listed is a model as it is listed when nothing narrows it.
func listed(id string, prices object) object {
	return object{
		"id": id, "object": "model", "provider": "fake",
		"credits":                  prices,
		"default_options":          object{"aspect_ratio": "auto", "quality": "1K"},
		"supported_qualities":      []any{"1K", "2K", "4K"},
		"supported_efforts":        efforts("1K", "2K", "4K"),
		"supported_ratios":         ratios,
		"supported_output_formats": []any{"png", "jpeg", "webp"},
		"supported_backgrounds":    []any{"auto", "opaque", "transparent"},
		"supports_mask":            true,
		"supports_seed":            true,
		"limits": object{"reference_image_limit": 16, "max_images": 4, "max_prompt_length": 32000,
			"max_reference_image_bytes": 52428800, "max_seed": 4294967295},
	}
}

// efforts are those of tiers without a cap.
func efforts(tiers ...string) object {
	all := object{}
	for _, t := range tiers {
		all[t] = []any{"auto", "low", "medium", "high"}
	}
	return all
}

func checkModelListing(t *testing.T, s *service) {
	listing := s.call(t, request{address: "/api/v1/models"}).is(t, http.StatusOK).has(t, "Content-Type",
		"application/json")
	same(t, listing.object(t),
		object{"object": "list", "data": []any{listed("fake-1", object{"1K": 1, "2K": 2, "4K": 4})}})
	// A wrong key changes nothing, since none is needed.
	is.New(t).Equal(string(s.call(t, request{address: "/api/v1/models", key: "nonsense"}).body), string(listing.body))
}

const twoModels = `
models:
  - {id: cheap, provider: {type: fake}, credits: {1K: 3}, ratios: [auto, "1:1"], max_references: 2, max_images: 2, max_prompt: 10}
  - {id: dear, provider: {type: fake}, credits: {1K: 7, 2K: 8, 4K: 9}}
`

func checkSeveralModels(t *testing.T, s *service) {
	s = s.start(t, settings{models: twoModels})
	cheap := listed("cheap", object{"1K": 3})
	cheap["supported_qualities"], cheap["supported_ratios"] = []any{"1K"}, []any{"auto", "1:1"}
	cheap["supported_efforts"] = efforts("1K")
	cheap["limits"] = object{"reference_image_limit": 2, "max_images": 2, "max_prompt_length": 10,
		"max_reference_image_bytes": 52428800, "max_seed": 4294967295}
	same(t, s.call(t, request{address: "/api/v1/models"}).object(t),
		object{"object": "list", "data": []any{cheap, listed("dear", object{"1K": 7, "2K": 8, "4K": 9})}})

	a := s.account(t, 100)
	for model, price := range map[string]int{"cheap": 3, "dear": 7} {
		g := a.generated(t, object{"model": model, "size": "64x64"})
		same(t, []any{g["model"], g["usage"].(object)["credits"]}, []any{model, price})
	}
	for _, unknown := range []string{"fake-1", "Cheap", " cheap", ""} {
		a.post(t, fox(object{"model": unknown})).refused(t, http.StatusBadRequest, "invalid_request", "model", "cheap",
			"dear")
	}
	for _, beyond := range []struct {
		fields   object
		mentions []string
	}{
		{object{"n": 3}, []string{"n ", "2", "3"}},
		{object{"prompt": strings.Repeat("é", 11)}, []string{"prompt", "11", "10"}},
		{object{"size": "64x48"}, []string{"64x48"}},
		{object{"size": "2048x2048"}, []string{"2K"}},
	} {
		beyond.fields["model"] = "cheap"
		if beyond.fields["size"] == nil {
			beyond.fields["size"] = "64x64"
		}
		a.post(t, fox(beyond.fields)).refused(t, http.StatusBadRequest, "invalid_request", beyond.mentions...)
	}
	same(t, a.credits(t), 90)
}
