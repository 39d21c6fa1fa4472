package engine

import (
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
)

// Losses returns a sentence for each price of one image, without references and mask, that is lower than what Cost says
// of the image, where a credit is worth so much. Costs of tokens, units and seconds are known only afterwards, and what
// a function Price returns only when it is called.
func (m Model) Losses(credit imagegen.Micros) (losses []string) {
	lines, said := m.lines(), make(map[string]bool)
	for _, tier := range m.info(m.Provider.Capabilities().WithDefaults()).Tiers {
		for _, effort := range m.efforts(tier) {
			for _, accountType := range m.accountTypes() {
				p, sold := listPrice(lines, 0, Order{Tier: tier, Effort: effort, AccountType: accountType})
				cost, known := m.Cost.ofImage(tier, effort)
				earned := imagegen.Micros(p.image) * credit
				loss := fmt.Sprintf("an image in %s at quality %s costs %v and is sold for %d credits, which are worth %v", tier,
					effort, cost, p.image, earned)
				if m.Price == nil && sold && known && earned < cost && !said[loss] {
					losses, said[loss] = append(losses, loss), true
				}
			}
		}
	}
	return losses
}
