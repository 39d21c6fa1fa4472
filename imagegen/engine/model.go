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

// strips reports whether the metadata of the model's images are removed.
func (m catalogEntry) strips() bool {
	return cmp.Or(m.Metadata, m.can.Metadata) == imagegen.MetadataStrip
}

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
		if m.sells(t) && slices.Contains(c.Tiers, t) {
			i.Tiers = append(i.Tiers, t)
		}
	}
	i.Efforts = make(map[imagegen.Tier][]imagegen.Quality)
	for _, t := range i.Tiers {
		i.Efforts[t] = m.askable(t)
	}
	for _, r := range imagegen.Ratios() {
		offered := slices.Contains(c.Ratios, r) && (m.Ratios == nil || slices.Contains(m.Ratios, r))
		if offered || r == imagegen.RatioAuto { // a request may always leave the size out
			i.Ratios = append(i.Ratios, r)
		}
	}
	return i
}

// sells reports whether a tier has a price: one of Credits or, without those, one in a line.
func (m Model) sells(t imagegen.Tier) bool {
	priced := func(l imagegen.Price) bool { _, ok := l.Credits[t]; return ok }
	if len(m.Credits) > 0 {
		return priced(imagegen.Price{Credits: m.Credits})
	}
	return slices.ContainsFunc(m.Prices, priced)
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
	i.Aliases, i.Efforts = slices.Clone(i.Aliases), maps.Clone(i.Efforts)
	for t, efforts := range i.Efforts {
		i.Efforts[t] = slices.Clone(efforts)
	}
	i.Formats, i.Backgrounds = slices.Clone(i.Formats), slices.Clone(i.Backgrounds)
	return i
}

// effort is what is asked of the provider for a quality in a tier. A quality above the model's cap is lowered to the
// cap if it chose the tier, and refused if the size did. Under a cap, auto becomes the cap, since the upstream could
// choose something higher.
func (m Model) effort(asked imagegen.Quality, t imagegen.Tier, choseTier bool) (imagegen.Quality, error) {
	most := m.lowered(asked, t)
	if most != asked && asked != imagegen.QualityAuto && !choseTier {
		return "", imagegen.InvalidField("quality", "quality %s is more than model %.40q makes in tier %s; the highest is %s",
			asked, m.ID, t, most)
	}
	return most, nil
}

// lowered is the effort for a quality in a tier: at most the model's cap.
func (m Model) lowered(asked imagegen.Quality, t imagegen.Tier) imagegen.Quality {
	most, capped := m.MaxEffort[t]
	if !capped || most == imagegen.QualityAuto {
		return asked
	}
	if asked == imagegen.QualityAuto || above(asked, most) {
		return most
	}
	return asked
}

// above reports whether a quality is more effort than another one; auto is less than any.
func above(q, than imagegen.Quality) bool {
	order := imagegen.Qualities()
	return slices.Index(order, q) > slices.Index(order, than)
}

// askable are the qualities that a request whose size chooses the tier can ask for.
func (m Model) askable(t imagegen.Tier) []imagegen.Quality {
	return slices.DeleteFunc(imagegen.Qualities(), func(q imagegen.Quality) bool {
		_, err := m.effort(q, t, false)
		return err != nil
	})
}

// efforts are those that can be asked of the provider in a tier.
func (m Model) efforts(t imagegen.Tier) []imagegen.Quality {
	return slices.DeleteFunc(imagegen.Qualities(), func(q imagegen.Quality) bool { return m.lowered(q, t) != q })
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
	if c, ok := m.Provider.(imagegen.ConcurrencyLimiter); ok && most == 0 {
		most = c.MaxConcurrent()
	}
	return cmp.Or(most, defaultMaxConcurrent)
}

// finding is what the end of an attempt says about the load of its upstream. A failure of
// any other kind says nothing about it.
func finding(delivered int, err error) schedule.Finding {
	if p, ok := errors.AsType[*imagegen.ProviderError](err); ok &&
		(p.Overloaded || p.Class == imagegen.ClassRateLimited) {
		return schedule.Finding{Overloaded: true, Pause: p.RetryAfter}
	}
	return schedule.Finding{Worked: err == nil && delivered > 0}
}
