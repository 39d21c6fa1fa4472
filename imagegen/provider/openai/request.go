package openai

import (
	"cmp"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// parameters are what both endpoints take (developers.openai.com/api/reference/resources/images).
// For an edit they become fields of a form.
type parameters struct {
	Model             string `json:"model"`
	Prompt            string `json:"prompt"`
	N                 int    `json:"n"`
	Size              string `json:"size"`
	Quality           string `json:"quality,omitempty"`
	Background        string `json:"background,omitempty"`
	OutputFormat      string `json:"output_format,omitempty"`
	OutputCompression *int   `json:"output_compression,omitempty"`
	Moderation        string `json:"moderation,omitempty"`
	Complexity        string `json:"complexity,omitempty"`
	User              string `json:"user,omitempty"`
}

// request returns where to send a request for r, and its body: a form if there are references, else JSON.
func (p *Provider) request(r imagegen.ProviderRequest) (path string, body *upstream.Body, err error) {
	size, err := p.capabilities.Choose(r)
	if err != nil {
		return "", nil, err
	}
	c := p.config
	q := parameters{Model: c.Model, Prompt: r.Prompt, N: r.N, Size: size.String(),
		Quality: cmp.Or(c.QualityNames[r.Quality], string(r.Quality)), Moderation: c.Moderation,
		Complexity: c.Complexity, User: r.EndUser}
	q.Background, q.OutputFormat, q.OutputCompression = c.Background, c.OutputFormat, c.OutputCompression
	if p.capabilities.Formats != nil {
		q.setOptions(r.Options)
	}
	if c.NoQuality {
		q.Quality = ""
	}
	if len(r.References) > 0 {
		return "/images/edits", q.form(r, c.InputFidelity), nil
	}
	body, err = new(upstream.Document).Body(q)
	return "/images/generations", body, err
}

// setOptions puts the options of a request in the place of those that are configured. A transparent background needs
// PNG or WebP, so it decides on the format if the two would not go together.
func (q *parameters) setOptions(o imagegen.Options) {
	q.Background = cmp.Or(string(o.Background), q.Background)
	if o.Format != "" {
		q.OutputFormat, q.OutputCompression = string(o.Format), o.Compression
	}
	// Background is configured so; the engine makes a JPEG of the PNG
	if q.Background == "transparent" && q.OutputFormat == "jpeg" {
		q.OutputFormat, q.OutputCompression = "png", nil
	}
	if o.Background == imagegen.BackgroundTransparent && q.OutputFormat == "" {
		q.OutputFormat = "png"
	}
}

// form leaves out empty fields. The references keep their order: the mask belongs to the first.
func (q parameters) form(r imagegen.ProviderRequest, fidelity string) *upstream.Body {
	compression := ""
	if q.OutputCompression != nil {
		compression = strconv.Itoa(*q.OutputCompression)
	}
	var f upstream.Form
	for _, field := range [][2]string{{"model", q.Model}, {"prompt", q.Prompt}, {"n", strconv.Itoa(q.N)},
		{"size", q.Size}, {"quality", q.Quality}, {"background", q.Background}, {"output_format", q.OutputFormat},
		{"output_compression", compression}, {"moderation", q.Moderation}, {"complexity", q.Complexity},
		{"input_fidelity", fidelity}, {"user", q.User}} {
		if field[1] != "" {
			f.Field(field[0], field[1])
		}
	}
	for _, reference := range r.References {
		f.File("image[]", reference)
	}
	if r.Mask != nil {
		f.File("mask", *r.Mask)
	}
	return f.Body()
}
