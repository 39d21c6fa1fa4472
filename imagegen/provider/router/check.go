package router

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// errCombination says that a member's capabilities do not cover a request.
var errCombination = errors.New("the capabilities do not cover the request")

// refuses returns nil if the member can honour r.
func (m *member) refuses(r imagegen.ProviderRequest) error {
	if !m.allows(r) {
		return errCombination
	}
	if c, ok := m.provider.(imagegen.Checker); ok {
		return c.Check(r)
	}
	return nil
}

// Check refuses what no single member can honour. The message is that of the members' own checks,
// or says what to change so that one member can.
func (p *Provider) Check(r imagegen.ProviderRequest) error {
	var messages []string
	for _, m := range p.members {
		err := m.refuses(r)
		if err == nil {
			return nil
		}
		if refusal, ok := errors.AsType[*imagegen.ProviderError](err); ok && !slices.Contains(messages, refusal.Message) {
			messages = append(messages, refusal.Message)
		}
	}
	if len(messages) == 0 {
		messages = []string{"no upstream of this model can do this all at once; " + strings.Join(p.suggest(r), ", or ")}
	}
	return &imagegen.ProviderError{Class: imagegen.ClassInvalid, Message: strings.Join(messages, "; or ")}
}

// suggest lists single changes that make r possible.
func (p *Provider) suggest(r imagegen.ProviderRequest) (changes []string) {
	if s, ok := p.nearest(r); ok {
		changes = append(changes, fmt.Sprintf("the nearest size is %v", s))
	}
	if tiers := p.tiers(r); len(tiers) > 0 {
		changes = append(changes, fmt.Sprintf("it can be had in tier %s", strings.Join(tiers, " or ")))
	}
	for n := len(r.References) - 1; n >= 0; n-- {
		fewer := r
		if fewer.References = r.References[:n]; p.able(fewer) {
			changes = append(changes, fmt.Sprintf("reduce the reference images to %d", n))
			break
		}
	}
	for n := r.N - 1; n > 0; n-- {
		fewer := r
		if fewer.N = n; p.able(fewer) {
			changes = append(changes, fmt.Sprintf("lower n to %d", n))
			break
		}
	}
	if len(changes) == 0 {
		changes = []string{"ask for less: a smaller size, fewer images or reference images, a shorter prompt"}
	}
	return changes
}

func (p *Provider) able(r imagegen.ProviderRequest) bool {
	return slices.ContainsFunc(p.members, func(m *member) bool { return m.refuses(r) == nil })
}

// tiers are those in which r can be had; with an explicit size it has no choice.
func (p *Provider) tiers(r imagegen.ProviderRequest) (names []string) {
	if !r.Size.Auto() {
		return nil
	}
	for _, r.Tier = range p.capabilities.Tiers {
		if p.able(r) {
			names = append(names, string(r.Tier))
		}
	}
	return names
}

// nearest is the usual size, of a ratio and tier with which r can be had, that differs least from
// its explicit one.
func (p *Provider) nearest(r imagegen.ProviderRequest) (nearest imagegen.Size, ok bool) {
	if r.Size.Auto() {
		return nearest, false
	}
	least, asked := math.Inf(1), r.Size
	for _, ratio := range p.capabilities.Ratios {
		for _, tier := range p.capabilities.Tiers {
			r.Ratio, r.Tier = ratio, tier
			r.Size = provider.SizeFor(ratio, tier)
			if d := distance(r.Size, asked); ratio.Aspect() > 0 && d < least && p.able(r) {
				nearest, least, ok = r.Size, d, true
			}
		}
	}
	return nearest, ok
}

// distance compares the edges as the eye does, by proportion.
func distance(a, b imagegen.Size) float64 {
	edge := func(x, y int) float64 { return math.Abs(math.Log(float64(x) / float64(y))) }
	return edge(a.Width, b.Width) + edge(a.Height, b.Height)
}
