package catalog

import (
	"go.yaml.in/yaml/v3"
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
