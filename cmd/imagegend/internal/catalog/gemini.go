package catalog

import (
	"errors"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/gemini"
	"github.com/imagegend/imagegend/imagegen/provider/gemini/vertex"
)

func geminiKind(s source) kind {
	var c gemini.Config
	var cloud vertex.Config
	k := keys{
		"name":           text(&c.Name),
		"base_url":       text(&c.BaseURL),
		"model":          text(&c.Model),
		"sizes":          func(n *yaml.Node) (err error) { c.Sizes, err = geminiSizes(n); return err },
		"tiers":          each(func(n *yaml.Node) error { c.Tiers = append(c.Tiers, imagegen.Tier(n.Value)); return nil }),
		"max_references": references(func(v int) { c.MaxReferences = orNone(v) }),
		"private":        yes(&c.Private),
		"project":        text(&cloud.Project),
		"location":       text(&cloud.Location),
	}
	s.secret(k, "key", &c.APIKey)
	s.secret(k, "service_account", &cloud.ServiceAccount)
	return kind{keys: k, make: func() (imagegen.Provider, error) {
		if cloud.ServiceAccount != "" {
			if c.APIKey != "" {
				return nil, errors.New("it has an API key and a service account; leave one of them")
			}
			cloud.Config = c
			return vertex.New(cloud)
		}
		if cloud.Project != "" || cloud.Location != "" {
			return nil, errors.New("project and location are for Vertex AI, which takes a service account: write service_account_file: PATH")
		}
		if err := needKey(c.APIKey, c.Private); err != nil {
			return nil, err
		}
		return gemini.New(c)
	}}
}

// geminiSizes reads the name of a family of models, or a size for each ratio.
func geminiSizes(n *yaml.Node) (gemini.Sizes, error) {
	if n.Kind == yaml.ScalarNode {
		if n.Value == "gemini-3" {
			return gemini.Gemini3(), nil
		}
		return nil, errAt(n, "gemini-3, or a size of tier 1K for each ratio is wanted; got %q", n.Value)
	}
	all, known := gemini.Sizes{}, keys{}
	for _, r := range imagegen.Ratios()[1:] {
		known[string(r)] = func(n *yaml.Node) (err error) { all[r], err = size(n); return err }
	}
	return all, fields(n, known)
}

// orNone is a limit for providers to which 0 means their default.
func orNone(v int) int {
	if v == 0 {
		return -1
	}
	return v
}
