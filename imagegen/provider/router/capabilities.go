package router

import (
	"slices"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
)

// union is what at least one member can do. Their images are verified as the least trusted member's are.
func union(members []*member) imagegen.Capabilities {
	u := imagegen.Capabilities{Verify: imagegen.VerifyStructure}
	for _, m := range members {
		if m.can.Verify != imagegen.VerifyStructure {
			u.Verify = m.can.Verify
		}
		u.MaxReferences = max(u.MaxReferences, m.can.MaxReferences)
		u.MaxImages = max(u.MaxImages, m.can.MaxImages)
		u.MaxPrompt = max(u.MaxPrompt, m.can.MaxPrompt)
	}
	for _, r := range imagegen.Ratios() {
		if slices.ContainsFunc(members, func(m *member) bool { return slices.Contains(m.can.Ratios, r) }) {
			u.Ratios = append(u.Ratios, r)
		}
	}
	for _, t := range imagegen.Tiers() {
		if slices.ContainsFunc(members, func(m *member) bool { return slices.Contains(m.can.Tiers, t) }) {
			u.Tiers = append(u.Tiers, t)
		}
	}
	return u
}

// allows reports whether the member's capabilities cover r.
func (m *member) allows(r imagegen.ProviderRequest) bool {
	return (r.Ratio == imagegen.RatioAuto || slices.Contains(m.can.Ratios, r.Ratio)) &&
		slices.Contains(m.can.Tiers, r.Tier) &&
		len(r.References) <= m.can.MaxReferences &&
		r.N <= m.can.MaxImages &&
		utf8.RuneCountInString(r.Prompt) <= m.can.MaxPrompt
}
