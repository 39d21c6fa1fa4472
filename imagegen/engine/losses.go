package engine

import (
	"fmt"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// Losses returns a sentence for each price of one image, without what references add, that is lower than what Cost says
// of the image, under a policy (nil: SizeFirst) and where a credit is worth so much. Costs of tokens, units and seconds
// are known only afterwards, and what a function Price returns only when it is called.
func (m Model) Losses(policy Policy, credit imagegen.Micros) (losses []string) {
	e := m.entry(policy)
	for _, tier := range e.info.Tiers {
		for _, effort := range e.efforts[tier] {
			for _, accountType := range m.accountTypes() {
				o := e.plainest(tier)
				o.Effort, o.AccountType = effort, accountType
				p, sold := listPrice(e.prices, m.ReferenceCredits, o)
				cost, known := m.Cost.ofImage(tier, effort)
				credits := p.image - imagegen.Credits(o.References)*p.reference
				earned := imagegen.Micros(credits) * credit
				loss := fmt.Sprintf("an image in %s at quality %s costs %v and is sold for %d credits, which are worth %v", tier,
					effort, cost, credits, earned)
				if m.Price == nil && sold && known && earned < cost && !slices.Contains(losses, loss) {
					losses = append(losses, loss)
				}
			}
		}
	}
	return losses
}
