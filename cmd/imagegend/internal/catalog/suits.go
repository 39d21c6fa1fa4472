package catalog

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/yamlfile"
	"github.com/imagegend/imagegend/imagegen"
)

// suits checks that the provider of a model can do what the model offers. The engine checks it too,
// but knows no lines, and takes a price for what cannot be done as no offer.
func suits(model *yaml.Node, can imagegen.Capabilities) error {
	for tier := range yamlfile.Pairs(yamlfile.Lookup(model, "credits")) {
		if can.Tiers != nil && !slices.Contains(can.Tiers, imagegen.Tier(tier.Value)) {
			return errAt(tier, "credits: the provider cannot do tier %s, only %v; leave its price out", tier.Value, can.Tiers)
		}
	}
	if ratios := yamlfile.Lookup(model, "ratios"); ratios != nil && can.Ratios != nil {
		for _, r := range ratios.Content {
			if !slices.Contains(can.Ratios, imagegen.Ratio(r.Value)) {
				return errAt(r, "ratios: the provider cannot do ratio %s, only %v", r.Value, can.Ratios)
			}
		}
	}
	return nil
}
