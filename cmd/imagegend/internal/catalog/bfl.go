package catalog

import (
	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/bfl"
)

func bflKind(s source) kind {
	var c bfl.Config
	k := keys{
		"name":             text(&c.Name),
		"base_url":         text(&c.BaseURL),
		"model":            text(&c.Model),
		"size_rules":       sizeRules(&c.SizeRules),
		"max_references":   references(func(v int) { c.MaxReferences = orNone(v) }),
		"max_prompt":       maxPrompt(&c.MaxPrompt),
		"output_format":    text(&c.OutputFormat),
		"safety_tolerance": func(n *yaml.Node) error { c.SafetyTolerance = new(int); return atLeast(0, c.SafetyTolerance)(n) },
		"poll_interval":    duration(&c.PollInterval),
		"image_hosts":      texts(&c.ImageHosts),
		"private":          yes(&c.Private),
	}
	s.secret(k, "key", &c.APIKey)
	return kind{keys: k, make: func() (imagegen.Provider, error) {
		if err := needKey(c.APIKey, c.Private); err != nil {
			return nil, err
		}
		return bfl.New(c)
	}}
}
