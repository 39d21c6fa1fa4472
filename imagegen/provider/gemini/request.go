package gemini

import (
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// content, part, inline, generationConfig and imageConfig are the parts of a request's body that are used here
// (googleapis/go-genai, types.go).
type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

type part struct {
	Text       string  `json:"text,omitempty"`
	InlineData *inline `json:"inlineData,omitempty"`
}

type inline struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"` // base64, or a placeholder for it
}

type generationConfig struct {
	ResponseModalities []string    `json:"responseModalities"`
	ImageConfig        imageConfig `json:"imageConfig"`
	Seed               *int64      `json:"seed,omitempty"` // an int32 (googleapis/go-genai, types.go)
}

type imageConfig struct {
	AspectRatio imagegen.Ratio `json:"aspectRatio,omitempty"`
	ImageSize   imagegen.Tier  `json:"imageSize,omitempty"`
}

// body returns the body of a request for one image of r. o is what choose has chosen.
func (c Config) body(r imagegen.ProviderRequest, o choice) (*upstream.Body, error) {
	var d upstream.Document
	parts := []part{{Text: r.Prompt}}
	for _, f := range r.References {
		parts = append(parts, part{InlineData: &inline{f.MediaType, d.Base64(f)}})
	}
	image := imageConfig{o.ratio, o.tier}
	if o.ratio == imagegen.RatioAuto {
		image.AspectRatio = "" // the upstream's own choice: the reference's, else a square
	}
	if slices.Equal(c.Tiers, []imagegen.Tier{imagegen.Tier1K}) {
		image.ImageSize = ""
	}
	return d.Body(map[string]any{
		"contents":         []content{{"user", parts}},
		"generationConfig": generationConfig{[]string{"IMAGE"}, image, r.Options.Seed},
	})
}
