package engine

import (
	"cmp"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/schedule"
)

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
		if m.MaxConcurrent == 0 && len(c.entries) > 1 { // unless it says so itself, each leaves half of the slots to the others
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

// finding is what the end of an attempt says about the load of its upstream.
func finding(delivered int, err error) schedule.Finding {
	if p, ok := errors.AsType[*imagegen.ProviderError](err); ok && (p.Overloaded || p.Class == imagegen.ClassRateLimited) {
		return schedule.Finding{Overloaded: true, Pause: p.RetryAfter}
	}
	return schedule.Finding{Worked: err == nil && delivered > 0}
}
