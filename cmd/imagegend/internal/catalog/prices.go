package catalog

import (
	"errors"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/yamlfile"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// linesAlone checks what the engine cannot know of the lines of prices: that they say what their author means.
func linesAlone(model *yaml.Node) error {
	prices := yamlfile.Lookup(model, "prices")
	if prices == nil || prices.Kind != yaml.SequenceNode {
		return nil
	}
	var errs []error
	for _, line := range prices.Content {
		if line.Kind != yaml.MappingNode {
			continue // which has an error already
		}
		if yamlfile.Lookup(line, "credits") == nil {
			errs = append(errs, errAt(line, "a line needs credits, one number or one for each tier"))
		}
		if mask := yamlfile.Lookup(line, "mask"); mask != nil && mask.Value == "false" {
			errs = append(errs, errAt(mask,
				"mask is true or absent; a line without it fits requests with and without a mask"))
		}
	}
	return yamlfile.Within("prices", errors.Join(errs...))
}

// checkPrices finds the mistakes in the prices of a model that the engine would refuse, and names their lines.
func checkPrices(model *yaml.Node, m engine.Model, policy engine.Policy) error {
	var errs []error
	for _, f := range m.PriceFaults(policy) {
		at := model
		switch {
		case f.Line >= 0 && f.Line < len(m.Prices):
			at = yamlfile.Lookup(model, "prices").Content[f.Line]
		case f.Line == len(m.Prices):
			at = yamlfile.Lookup(model, "credits")
		}
		errs = append(errs, yamlfile.Within("prices", errAt(at, "%s", f.Message)))
	}
	return errors.Join(errs...)
}
