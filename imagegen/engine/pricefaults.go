package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// PriceFault is a mistake in the prices of a model.
type PriceFault struct {
	Line    int // the index of the line in Model.Prices; len(Model.Prices): Model.Credits; -1: the prices together
	Message string
}

// in returns the fault as an error.
func (f PriceFault) in(m Model) error {
	switch {
	case f.Line < 0:
		return fmt.Errorf("imagegen: model %q: %s", m.ID, f.Message)
	case f.Line == len(m.Prices):
		return fmt.Errorf("imagegen: model %q: Credits: %s", m.ID, f.Message)
	}
	return fmt.Errorf("imagegen: model %q: Prices[%d]: %s", m.ID, f.Line, f.Message)
}

// PriceFaults returns the mistakes in the prices of a model with a valid Provider: amounts and conditions that cannot
// be, lines that no request can reach under a policy (nil: SizeFirst), and tiers on offer without a price for a request
// that leaves everything open: at quality auto if that can ask for the tier, without references unless the provider
// needs some, and without a mask. An [Engine] refuses a model that has any.
func (m Model) PriceFaults(policy Policy) (faults []PriceFault) {
	if m.Price != nil && len(m.Prices) > 0 {
		return []PriceFault{{-1, "a model has Prices or a function Price, not both"}}
	}
	e := m.entry(policy)
	for i, l := range e.prices {
		if err := m.checkLine(l, e.info); err != nil {
			faults = append(faults, PriceFault{i, err.Error()})
		}
	}
	// A model that offers nothing has another mistake.
	if len(faults) > 0 || len(e.info.Tiers) == 0 || e.info.MaxReferences < e.can.MinReferences {
		return faults
	}
	return append(e.unreached(), e.unpriced()...)
}

// checkLine checks a line alone: its conditions, and that the largest request at its price fits into an account.
func (m Model) checkLine(l imagegen.Price, info imagegen.ModelInfo) error {
	reference := m.ReferenceCredits
	if l.ReferenceCredits != nil {
		reference = *l.ReferenceCredits
	}
	for tier, credits := range l.Credits {
		if !slices.Contains(imagegen.Tiers(), tier) {
			return fmt.Errorf("there is no tier %q; the tiers are %v", tier, imagegen.Tiers())
		}
		if reference < 0 || reference > imagegen.MaxCredits || !credits.Valid() {
			return fmt.Errorf("%d credits, and %d for a reference image, cannot be a price", credits, reference)
		}
		most := credits + imagegen.Credits(info.MaxReferences)*reference
		if _, err := most.Times(imagegen.MaxImages); err != nil {
			return fmt.Errorf("%d images at %d credits are more than an account can hold", imagegen.MaxImages, most)
		}
	}
	if l.AccountType != "" {
		known, err := imagegen.ParseAccountType(l.AccountType)
		if err != nil || known != l.AccountType {
			return fmt.Errorf("an account type is capital letters, digits and _, such as PRO; got %q", l.AccountType)
		}
	}
	switch {
	case l.Quality != "" && !slices.Contains(imagegen.Qualities(), l.Quality):
		return fmt.Errorf("there is no quality %q; there are %v", l.Quality, imagegen.Qualities())
	case l.References < 0 || l.References > info.MaxReferences:
		return fmt.Errorf("the line is for %d references; the model takes from 0 to %d", l.References,
			info.MaxReferences)
	case l.Mask && !info.Mask:
		return fmt.Errorf("the line is for a mask, and the model takes none")
	}
	return nil
}

// unreached reports the lines that no request can reach.
func (m catalogEntry) unreached() (faults []PriceFault) {
	reached := make([]bool, len(m.prices))
	for _, accountType := range m.accountTypes() {
		m.reach(reached, accountType)
	}
	for i, l := range m.prices {
		if !reached[i] && (i < len(m.Prices) || len(l.Credits) > 0) {
			faults = append(faults, PriceFault{i, "no request can reach this line: its conditions never come true, or the lines before it " +
				"fit all that it fits; leave it out or move it up"})
		}
	}
	return faults
}

// reach marks the lines that some request by a user of an account type reaches.
func (m catalogEntry) reach(reached []bool, accountType string) {
	for _, tier := range m.info.Tiers {
		for _, effort := range m.efforts[tier] {
			for references := m.can.MinReferences; references <= m.info.MaxReferences; references++ {
				for _, mask := range []bool{false, m.info.Mask && references > 0} {
					o := Order{Tier: tier, Effort: effort, AccountType: accountType, References: references, Mask: mask}
					if i := fitting(m.prices, o); i >= 0 {
						reached[i] = true
					}
				}
			}
		}
	}
}

// accountTypes are those that see the model or, if all do, those that the prices name, and "" for all others.
func (m Model) accountTypes() []string {
	if len(m.OnlyFor) > 0 {
		return m.OnlyFor
	}
	types := []string{""}
	for _, l := range m.Prices {
		types = append(types, l.AccountType)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// unpriced reports the tiers on offer that have no price for a request that leaves everything open.
func (m catalogEntry) unpriced() (faults []PriceFault) {
	for _, tier := range m.info.Tiers {
		for _, accountType := range m.accountTypes() {
			o := m.plainest(tier)
			if o.AccountType = accountType; fitting(m.prices, o) < 0 {
				faults = append(faults, PriceFault{-1, fmt.Sprintf(
					"tier %s has no price at quality %s with %d references for %s; add a line for it, or to credits", tier,
					o.Effort, o.References, cmp.Or(accountType, "other account types"))})
			}
		}
	}
	return faults
}
