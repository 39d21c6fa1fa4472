package catalog

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/comfyui"
)

func comfyUIKind(s source) kind {
	var c comfyui.Config
	var files []string
	k := keys{
		"name":       text(&c.Name),
		"base_url":   text(&c.BaseURL),
		"key_header": text(&c.KeyHeader),
		"best_edge":  count(&c.BestEdge),
		"steps":      steps(&c.Steps),
		"workflows": each(func(n *yaml.Node) error {
			files = append(files, n.Value)
			workflow, err := s.content(n)
			c.Workflows = append(c.Workflows, workflow)
			return err
		}),
	}
	s.secret(k, "key", &c.APIKey)
	return kind{keys: k, make: func() (imagegen.Provider, error) {
		p, err := comfyui.New(c)
		return p, nameFiles(err, files)
	}}
}

// nameFiles says the name of a workflow's file where err has its number.
func nameFiles(err error, files []string) error {
	if err == nil {
		return nil
	}
	words := err.Error()
	for i, name := range files {
		words = strings.Replace(words, fmt.Sprintf("workflow %d:", i+1), fmt.Sprintf("workflow %s:", name), 1)
	}
	return errors.New(words)
}
