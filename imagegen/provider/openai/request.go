package openai

import (
	"cmp"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// parameters are what both endpoints take.
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
}

func (p *Provider) request(r imagegen.ProviderRequest) (path string, body *upstream.Body, err error) {
	size, err := p.capabilities.Choose(r)
	if err != nil {
		return "", nil, err
	}
	c := p.config
	q := parameters{Model: c.Model, Prompt: r.Prompt, N: r.N, Size: size.String(), Quality: cmp.Or(c.QualityNames[r.Quality], string(r.Quality)),
		Background: c.Background, OutputFormat: c.OutputFormat, OutputCompression: c.OutputCompression, Moderation: c.Moderation, Complexity: c.Complexity}
	if c.NoQuality {
		q.Quality = ""
	}
	if len(r.References) > 0 {
		return "/images/edits", q.form(r.References, c.InputFidelity), nil
	}
	body, err = new(upstream.Document).Body(q)
	return "/images/generations", body, err
}

func (q parameters) form(references []imagegen.ProviderReference, fidelity string) *upstream.Body {
	compression := ""
	if q.OutputCompression != nil {
		compression = strconv.Itoa(*q.OutputCompression)
	}
	var f upstream.Form
	for _, field := range [][2]string{{"model", q.Model}, {"prompt", q.Prompt}, {"n", strconv.Itoa(q.N)}, {"size", q.Size},
		{"quality", q.Quality}, {"background", q.Background}, {"output_format", q.OutputFormat}, {"output_compression", compression},
		{"moderation", q.Moderation}, {"complexity", q.Complexity}, {"input_fidelity", fidelity}} {
		if field[1] != "" {
			f.Field(field[0], field[1])
		}
	}
	for _, r := range references {
		f.File("image[]", r)
	}
	return f.Body()
}
