package imagegen

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Refuses returns nil if p can honour r, by its capabilities and, if it is a Checker, in its own word; else a
// *ProviderError of ClassInvalid that says what to change. It is a pure function of r's fields up to Quality and
// len(r.References).
func Refuses(p Provider, r ProviderRequest) error {
	if err := p.Capabilities().Refuses(r); err != nil {
		return err
	}
	if c, ok := p.(Checker); ok {
		return c.Check(r)
	}
	return nil
}

// Refuses returns nil if r can be had, else a *ProviderError of ClassInvalid that says what to change. It looks at the fields
// that Checker.Check does. Of an explicit size it names none that can be had.
func (c Capabilities) Refuses(r ProviderRequest) error {
	switch {
	case c.Offers == nil:
		return c.WithDefaults().refusesAlone(r)
	case c.able(r):
		return nil
	}
	var messages []string
	for _, o := range c.Offers {
		if e, ok := errors.AsType[*ProviderError](o.Refuses(r)); ok && !slices.Contains(messages, e.Message) {
			messages = append(messages, e.Message)
		}
	}
	if len(messages) == 1 {
		return invalidRequest("%s", messages[0])
	}
	return invalidRequest("this model cannot do this all at once; %s", strings.Join(c.WithDefaults().suggest(r), ", or "))
}

func (c Capabilities) refusesAlone(r ProviderRequest) error {
	references := len(r.References)
	switch {
	case references < c.MinReferences || references > c.MaxReferences:
		return invalidRequest("%d reference images were sent; it takes from %d to %d", references, c.MinReferences, c.MaxReferences)
	case r.N > c.MaxImages:
		return invalidRequest("n is %d; it makes up to %d", r.N, c.MaxImages)
	case utf8.RuneCountInString(r.Prompt) > c.MaxPrompt:
		return invalidRequest("the prompt is longer than %d characters", c.MaxPrompt)
	case !slices.Contains(c.Tiers, r.Tier):
		return invalidRequest("tier %s cannot be had, only %v", r.Tier, c.Tiers)
	case r.Ratio != RatioAuto && !slices.Contains(c.Ratios, r.Ratio):
		return invalidRequest("ratio %s cannot be had, only %v", r.Ratio, c.Ratios)
	}
	_, err := c.Choose(r)
	return err
}

func (c Capabilities) able(r ProviderRequest) bool {
	return slices.ContainsFunc(c.Offers, func(o Capabilities) bool { return o.Refuses(r) == nil })
}

// suggest lists single changes that make r possible. A size that makes it so is the engine's to find.
func (c Capabilities) suggest(r ProviderRequest) (changes []string) {
	other := r
	for _, other.Tier = range c.Tiers {
		if r.Size.Auto() && c.able(other) {
			changes = append(changes, fmt.Sprintf("it can be had in tier %s", other.Tier))
		}
	}
	other = r
	for n := c.MaxReferences; n >= c.MinReferences; n-- {
		if other.References = make([]ProviderReference, n); c.able(other) {
			changes = append(changes, fmt.Sprintf("change the number of reference images to %d", n))
			break
		}
	}
	other = r
	for other.N = r.N - 1; other.N > 0; other.N-- {
		if c.able(other) {
			changes = append(changes, fmt.Sprintf("lower n to %d", other.N))
			break
		}
	}
	if len(changes) == 0 {
		changes = []string{"ask for less: a smaller size, fewer images or reference images, a shorter prompt"}
	}
	return changes
}
