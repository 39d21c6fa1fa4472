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

// metadata is what becomes of the metadata of the model's images.
func (m catalogEntry) metadata() imagegen.Metadata { return cmp.Or(m.Metadata, m.can.Metadata) }

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
		PriceVaries:       m.Price != nil,
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

// asking is a way to ask for a tier: a quality, and the effort that is then asked of the provider.
type asking struct {
	tier            imagegen.Tier
	quality, effort imagegen.Quality
	sized           bool // by an explicit size
}

// askings finds out how requests can ask for the tiers, by asking the policy and the provider's capabilities: with each
// quality, without a size and with one of each tier. If nothing comes to a tier, the policy wants other sizes: then any
// quality may.
func (m catalogEntry) askings(policy Policy) (all []asking) {
	ask := func(q imagegen.Quality, z imagegen.Size) bool {
		r := imagegen.Record{Intent: imagegen.Intent{Model: m.ID, N: 1, Size: z, Quality: q}}
		if m.resolve(policy, &r) != nil || m.checkCapabilities(r, attached{references: m.can.MinReferences}) != nil {
			return false
		}
		all = append(all, asking{r.Tier, q, r.Effort, !z.Auto()})
		return true
	}
	for _, q := range imagegen.Qualities() {
		ask(q, imagegen.Size{})
		for _, t := range imagegen.Tiers() {
			for _, r := range m.info.Ratios {
				if ask(q, imagegen.SizeFor(r, t)) {
					break
				}
			}
		}
	}
	for _, t := range m.info.Tiers {
		if slices.ContainsFunc(all, func(a asking) bool { return a.tier == t }) {
			continue
		}
		for _, q := range imagegen.Qualities() {
			if effort, err := m.effort(q, t, false); err == nil {
				all = append(all, asking{t, q, effort, true})
			}
		}
	}
	return all
}

// withEfforts fills in what follows from the ways to ask.
func (m catalogEntry) withEfforts(policy Policy) catalogEntry {
	m.efforts, m.info.Efforts = make(map[imagegen.Tier][]imagegen.Quality), make(map[imagegen.Tier][]imagegen.Quality)
	all := m.askings(policy)
	for _, t := range m.info.Tiers {
		sized := slices.ContainsFunc(all, func(a asking) bool { return a.tier == t && a.sized })
		for _, a := range all {
			if a.tier != t {
				continue
			}
			m.efforts[t] = added(m.efforts[t], a.effort)
			if a.sized == sized {
				m.info.Efforts[t] = added(m.info.Efforts[t], a.quality)
			}
		}
	}
	return m
}

// added adds a quality, once.
func added(to []imagegen.Quality, q imagegen.Quality) []imagegen.Quality {
	if slices.Contains(to, q) {
		return to
	}
	return append(to, q)
}

// plainest is what a request for a tier is asked for that leaves everything open.
func (m catalogEntry) plainest(t imagegen.Tier) Order {
	return Order{Model: m.ID, Tier: t, Ratio: imagegen.RatioAuto, Effort: m.efforts[t][0], N: 1,
		References: m.can.MinReferences}
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
