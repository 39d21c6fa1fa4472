package engine

import (
	"cmp"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/schedule"
)

// defaultMaxConcurrent is how many attempts at generations of a model are under way at once, unless the model
// says otherwise.
const defaultMaxConcurrent = 64

// mostAtOnce is how many attempts at generations of each model there are at once.
func (c *catalog) mostAtOnce(slots int) map[string]int {
	most := make(map[string]int, len(c.offers))
	for id, m := range c.offers {
		most[id] = m.maxConcurrent(len(c.offers), slots)
	}
	return most
}

// maxConcurrent is how many attempts at generations of the model there are at once, at most: unless it says
// so itself, of several models each leaves half of the slots to the others.
func (m Model) maxConcurrent(models, slots int) int {
	most := m.MaxConcurrent
	if most > 0 {
		return min(most, slots)
	}
	if c, ok := m.Provider.(interface{ MaxConcurrent() int }); ok {
		most = c.MaxConcurrent()
	}
	most = min(cmp.Or(most, defaultMaxConcurrent), slots)
	if models > 1 {
		most = min(most, (slots+1)/2)
	}
	return most
}

// found is what the end of an attempt says of its upstream.
func found(delivered int, err error) schedule.Finding {
	if p, ok := errors.AsType[*imagegen.ProviderError](err); ok && (p.Overloaded || p.Class == imagegen.ClassRateLimited) {
		return schedule.Finding{Overloaded: true, Pause: p.RetryAfter}
	}
	return schedule.Finding{Worked: err == nil && delivered > 0}
}
