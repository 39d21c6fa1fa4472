package catalog

import (
	"fmt"
	"slices"

	"github.com/imagegend/imagegend/imagegen/engine"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/imagegen"
)

// priced reports whether a model has a price for anything that its provider can do.
func priced(m engine.Model) bool {
	can := m.Provider.Capabilities().Tiers
	for tier := range m.Credits {
		if can == nil || slices.Contains(can, tier) {
			return true
		}
	}
	return false
}

// suits checks that the provider of a model can do what the model offers. The engine checks it too,
// but knows no lines, and takes a price for what cannot be done as no offer.
func suits(model *yaml.Node, can imagegen.Capabilities) error {
	if n := lookup(model, "credits"); n != nil && can.Tiers != nil {
		for i := 0; i < len(n.Content); i += 2 {
			if tier := n.Content[i]; !slices.Contains(can.Tiers, imagegen.Tier(tier.Value)) {
				return fmt.Errorf("credits: %w", errAt(tier, "the provider cannot do tier %s, only %v; leave its price out", tier.Value, can.Tiers))
			}
		}
	}
	if n := lookup(model, "ratios"); n != nil && can.Ratios != nil {
		for _, r := range n.Content {
			if !slices.Contains(can.Ratios, imagegen.Ratio(r.Value)) {
				return fmt.Errorf("ratios: %w", errAt(r, "the provider cannot do ratio %s, only %v", r.Value, can.Ratios))
			}
		}
	}
	return nil
}
