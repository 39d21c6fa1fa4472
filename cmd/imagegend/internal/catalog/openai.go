package catalog

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/openai"
)

func openAIKind(s source) kind {
	var c openai.Config
	k := keys{
		"name":               text(&c.Name),
		"base_url":           text(&c.BaseURL),
		"key_header":         text(&c.KeyHeader),
		"organization":       text(&c.Organization),
		"project":            text(&c.Project),
		"model":              text(&c.Model),
		"sizes":              sizes(&c.Sizes),
		"size_rules":         sizeRules(&c.SizeRules),
		"no_auto":            yes(&c.NoAuto),
		"no_quality":         yes(&c.NoQuality),
		"max_references":     references(func(v int) { c.MaxReferences, c.NoEdits = v, v == 0 }),
		"max_per_call":       count(&c.MaxPerCall),
		"max_prompt":         maxPrompt(&c.MaxPrompt),
		"output_format":      text(&c.OutputFormat),
		"moderation":         text(&c.Moderation),
		"background":         text(&c.Background),
		"input_fidelity":     text(&c.InputFidelity),
		"complexity":         text(&c.Complexity),
		"output_compression": limit(func(v int) { c.OutputCompression = &v }, 0, 100),
		"quality_names":      qualityNames(&c.QualityNames),
		"image_hosts":        texts(&c.ImageHosts),
		"private":            yes(&c.Private),
	}
	s.secret(k, "key", &c.APIKey)
	return kind{keys: k, make: func() (imagegen.Provider, error) {
		if err := needKey(c.APIKey, c.Private); err != nil {
			return nil, err
		}
		return openai.New(c)
	}}
}
