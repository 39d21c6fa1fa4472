package engine

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/schedule"
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

// defaultMaxConcurrent is how many attempts with one model run at once, unless the model
// or its provider says otherwise.
const defaultMaxConcurrent = 64

// maxAtOnce is how many attempts with each model may run at once on one of several nodes:
// this node's share of what the upstream takes, at least one. Where there are several
// models, none takes more than half of the slots unless its MaxConcurrent says so.
func (c *catalog) maxAtOnce(slots, nodes int) map[string]int {
	most := make(map[string]int, len(c.entries))
	for id, m := range c.entries {
		share := max(1, m.maxConcurrent()/nodes)
		if m.MaxConcurrent == 0 && len(c.entries) > 1 {
			share = min(share, (slots+1)/2)
		}
		most[id] = min(share, slots)
	}
	return most
}

// maxConcurrent is how many attempts the model's upstream takes at once.
func (m Model) maxConcurrent() int {
	most := m.MaxConcurrent
	if c, ok := m.Provider.(interface{ MaxConcurrent() int }); ok && most == 0 {
		most = c.MaxConcurrent()
	}
	return cmp.Or(most, defaultMaxConcurrent)
}

// finding is what the end of an attempt says about the load of its upstream. A failure of
// any other kind says nothing about it.
func finding(delivered int, err error) schedule.Finding {
	if p, ok := errors.AsType[*imagegen.ProviderError](err); ok && (p.Overloaded || p.Class == imagegen.ClassRateLimited) {
		return schedule.Finding{Overloaded: true, Pause: p.RetryAfter}
	}
	return schedule.Finding{Worked: err == nil && delivered > 0}
}
