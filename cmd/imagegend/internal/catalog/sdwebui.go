package catalog

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/sdwebui"
)

func sdWebUIKind(s source) kind {
	var c sdwebui.Config
	k := keys{
		"name":                text(&c.Name),
		"base_url":            text(&c.BaseURL),
		"user":                text(&c.User),
		"checkpoint":          text(&c.Checkpoint),
		"best_edge":           count(&c.BestEdge),
		"steps":               steps(&c.Steps),
		"guidance":            number(&c.Guidance),
		"sampler":             text(&c.Sampler),
		"scheduler":           text(&c.Scheduler),
		"negative_prompt":     text(&c.NegativePrompt),
		"upscaler":            text(&c.Upscaler),
		"hires_denoising":     number(&c.HiresDenoising),
		"input":               input(&c.Input),
		"reference_denoising": number(&c.ReferenceDenoising),
	}
	s.secret(k, "password", &c.Password)
	return kind{keys: k, make: func() (imagegen.Provider, error) { return sdwebui.New(c) }}
}
