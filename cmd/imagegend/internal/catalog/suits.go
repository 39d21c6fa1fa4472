package catalog

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/yamlfile"
	"github.com/imagegend/imagegend/imagegen"
)

// suits checks that a model's provider can do what the model offers. The engine would accept more: to it, a price for
// something that the provider cannot do offers nothing. In a file such a price is a mistake. Where Capabilities names
// no tiers or ratios, they follow from its sizes, which only the engine looks at.
func suits(model *yaml.Node, can imagegen.Capabilities) error {
	offered := yamlfile.Lookup(model, "credits")
	for _, amounts := range amountsOf(model) {
		for tier := range yamlfile.Pairs(amounts) {
			if offered != nil && offered.Kind == yaml.MappingNode && yamlfile.Lookup(offered, tier.Value) == nil {
				return errAt(tier, "prices: tier %s is not on offer, since the model's credits do not have it", tier.Value)
			}
			if can.Tiers != nil && !slices.Contains(can.Tiers, imagegen.Tier(tier.Value)) {
				return errAt(tier, "credits: the provider cannot do tier %s, only %v; leave its price out", tier.Value,
					can.Tiers)
			}
		}
	}
	if sends := yamlfile.Lookup(model, "send_user"); sends != nil && sends.Value == "true" && !can.EndUser {
		return errAt(sends, "send_user: this provider has no field for it; leave it out, or give input a {{end_user}}")
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

// amountsOf returns the credits of a model, and those of the lines of its prices.
func amountsOf(model *yaml.Node) (all []*yaml.Node) {
	blocks := []*yaml.Node{model}
	if prices := yamlfile.Lookup(model, "prices"); prices != nil {
		blocks = append(blocks, prices.Content...)
	}
	for _, b := range blocks {
		if amounts := yamlfile.Lookup(b, "credits"); amounts != nil {
			all = append(all, amounts)
		}
	}
	return all
}
