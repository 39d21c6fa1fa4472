package catalog

import (
	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/imagegen"
)

// input reads what a model is sent, with placeholders.
func input(to *map[string]any) setter {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.MappingNode || n.Decode(to) != nil {
			return errAt(n, `the model's input is wanted, each name once and placeholders in quotes, such as {prompt: "{{prompt}}"}`)
		}
		return nil
	}
}

func tierName(n *yaml.Node) (string, error) {
	var name string
	err := text(&name)(n)
	return name, err
}

// qualityNames reads what each quality is called upstream.
func qualityNames(to *map[imagegen.Quality]string) setter {
	return func(n *yaml.Node) error {
		*to = map[imagegen.Quality]string{}
		known := keys{}
		for _, q := range imagegen.Qualities() {
			known[string(q)] = func(n *yaml.Node) error {
				var name string
				err := text(&name)(n)
				(*to)[q] = name
				return err
			}
		}
		return fields(n, known)
	}
}
