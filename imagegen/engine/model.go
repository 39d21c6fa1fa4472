package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// verification is how images of the model are checked for completeness.
func (m catalogEntry) verification() imagegen.Verification { return cmp.Or(m.Verify, m.can.Verify) }

// info is what the model offers: what its provider can do, restricted by the
// configuration.
func (m Model) info(c imagegen.Capabilities) imagegen.ModelInfo {
	i := imagegen.ModelInfo{
		ID:                m.ID,
		Provider:          m.Provider.Name(),
		Credits:           map[imagegen.Tier]imagegen.Credits{},
		MaxReferences:     min(c.MaxReferences, imagegen.MaxReferences),
		MaxImages:         narrow(min(c.MaxImages, imagegen.MaxImages), m.MaxImages),
		MaxPrompt:         narrow(min(c.MaxPrompt, imagegen.MaxPromptRunes), m.MaxPrompt),
		MaxReferenceBytes: imagegen.MaxReferenceBytes,
		Aliases:           slices.Clone(m.Aliases),
		Formats:           c.OfferedFormats(),
		Backgrounds:       c.OfferedBackgrounds(),
		MaxSeed:           c.MaxSeed,
	}
	if m.MaxReferences != nil {
		i.MaxReferences = min(i.MaxReferences, max(0, *m.MaxReferences))
	}
	i.Mask = c.Mask && i.MaxReferences > 0
	for _, t := range imagegen.Tiers() {
		if price, ok := m.Credits[t]; ok && slices.Contains(c.Tiers, t) {
			i.Tiers, i.Credits[t] = append(i.Tiers, t), price
		}
	}
	for _, r := range imagegen.Ratios() {
		offered := slices.Contains(c.Ratios, r) && (m.Ratios == nil || slices.Contains(m.Ratios, r))
		if offered || r == imagegen.RatioAuto { // a request may always leave the size out
			i.Ratios = append(i.Ratios, r)
		}
	}
	return i
}

// narrow lowers a limit to one that is configured; 0 leaves it as it is.
func narrow(most, to int) int {
	if to > 0 {
		return min(most, to)
	}
	return most
}

// clone copies an info, so that a caller's changes do not reach the engine.
func clone(i imagegen.ModelInfo) imagegen.ModelInfo {
	i.Credits, i.Tiers, i.Ratios = maps.Clone(i.Credits), slices.Clone(i.Tiers), slices.Clone(i.Ratios)
	i.Aliases = slices.Clone(i.Aliases)
	i.Formats, i.Backgrounds = slices.Clone(i.Formats), slices.Clone(i.Backgrounds)
	return i
}

// effort lowers an effort to the highest that the model allows in a tier. Under a cap,
// auto becomes the cap, since the upstream could choose something higher.
func (m Model) effort(asked imagegen.Quality, t imagegen.Tier) imagegen.Quality {
	most, capped := m.MaxEffort[t]
	if !capped || most == imagegen.QualityAuto {
		return asked
	}
	order := imagegen.Qualities()
	if asked == imagegen.QualityAuto || slices.Index(order, asked) > slices.Index(order, most) {
		return most
	}
	return asked
}
