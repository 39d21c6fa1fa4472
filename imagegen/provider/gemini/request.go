package gemini

import (
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// body returns the body of a request for one image of r (googleapis/go-genai, types.go). o is what choose has chosen.
func (c Config) body(r imagegen.ProviderRequest, o choice) (*upstream.Body, error) {
	var d upstream.Document
	parts := []any{map[string]any{"text": r.Prompt}}
	for _, f := range r.References {
		file := map[string]any{"mimeType": f.MediaType, "data": d.Base64(f)}
		parts = append(parts, map[string]any{"inlineData": file})
	}
	image := map[string]any{}
	if o.ratio != imagegen.RatioAuto { // else it is the upstream's own choice: the reference's, else a square
		image["aspectRatio"] = o.ratio
	}
	if !slices.Equal(c.Tiers, []imagegen.Tier{imagegen.Tier1K}) {
		image["imageSize"] = o.tier
	}
	config := map[string]any{"responseModalities": []string{"IMAGE"}, "imageConfig": image}
	if r.Options.Seed != nil {
		config["seed"] = *r.Options.Seed // an int32
	}
	return d.Body(map[string]any{"contents": contents(parts...), "generationConfig": config})
}

// contents are what a user says, in parts.
func contents(parts ...any) []any { return []any{map[string]any{"role": "user", "parts": parts}} }
