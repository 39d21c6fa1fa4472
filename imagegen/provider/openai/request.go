package openai

import (
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// parameters are what both endpoints take.
type parameters struct {
	Model        string `json:"model"`
	Prompt       string `json:"prompt"`
	N            int    `json:"n"`
	Size         string `json:"size"`
	Quality      string `json:"quality,omitempty"`
	OutputFormat string `json:"output_format,omitempty"`
	Moderation   string `json:"moderation,omitempty"`
}

func (p *Provider) request(r imagegen.ProviderRequest) (path string, body *upstream.Body, err error) {
	size, err := p.config.size(r)
	if err != nil {
		return "", nil, err
	}
	q := parameters{Model: p.config.Model, Prompt: r.Prompt, N: r.N, Size: size.String(), Quality: string(r.Quality),
		OutputFormat: p.config.OutputFormat, Moderation: p.config.Moderation}
	if p.config.NoQuality {
		q.Quality = ""
	}
	if len(r.References) > 0 {
		return "/images/edits", q.form(r.References), nil
	}
	body, err = new(upstream.Document).Body(q)
	return "/images/generations", body, err
}

func (q parameters) form(references []imagegen.ProviderReference) *upstream.Body {
	var f upstream.Form
	for _, field := range [][2]string{{"model", q.Model}, {"prompt", q.Prompt}, {"n", strconv.Itoa(q.N)}, {"size", q.Size},
		{"quality", q.Quality}, {"output_format", q.OutputFormat}} {
		if field[1] != "" {
			f.Field(field[0], field[1])
		}
	}
	for _, r := range references {
		f.File("image[]", r)
	}
	return f.Body()
}
