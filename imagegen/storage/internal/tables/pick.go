package tables

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// take removes what is to be claimed, in its order.
func (w *waiting) take(d imagegen.Demand) (taken []ticket) {
	d.Places = maps.Clone(d.Places)
	users := w.candidates(d)
	for len(taken) < d.Most && len(users) > 0 {
		i := fewest(users)
		c := users[i]
		users = slices.Delete(users, i, i+1)
		t, ok := c.first(d)
		if !ok {
			continue
		}
		w.remove(t.ID)
		taken = append(taken, t)
		if d.Places != nil {
			d.Places[t.model]--
		}
		if c.held++; allows(d, c.held) {
			users = append(users, c)
		}
	}
	return taken
}

// takeOld removes up to n that are due and were created no later than by, oldest first.
func (w *waiting) takeOld(n int, by time.Time) (taken []ticket) {
	for _, t := range w.tickets {
		if t.at.IsZero() && !t.since.After(by) {
			taken = append(taken, t)
		}
	}
	slices.SortFunc(taken, func(a, b ticket) int { return cmp.Compare(a.ID, b.ID) })
	taken = taken[:min(max(n, 0), len(taken))]
	for _, t := range taken {
		w.remove(t.ID)
	}
	return taken
}

// first is the first work of a user whose model has a place.
func (q *queue) first(d imagegen.Demand) (first ticket, ok bool) {
	for model, due := range q.due {
		if hasPlace(d, model) && (!ok || byTurn(due[0], first) < 0) {
			first, ok = due[0], true
		}
	}
	return first, ok
}

// hasPlace reports whether a claim has a place left for a model.
func hasPlace(d imagegen.Demand, model string) bool {
	return d.Places == nil || d.Places[model] > 0
}

// candidate is a user whose work may be claimed.
type candidate struct {
	*queue
	held int
}

// allows reports whether a claim is for users who hold that many slots.
func allows(d imagegen.Demand, held int) bool { return d.Below == 0 || held < d.Below }

// candidates are the users who may get something, by their turns: of each model with places those from the
// front of its ring. Once there are enough who hold nothing, nobody behind them can.
func (w *waiting) candidates(d imagegen.Demand) (users []candidate) {
	met := make(map[*queue]bool)
	for model, ring := range w.rings {
		if !hasPlace(d, model) {
			continue
		}
		idle := 0
		for _, q := range ring {
			if idle >= d.Most {
				break
			}
			held := d.Held[q.user]
			if held == 0 {
				idle++
			}
			if allows(d, held) && !met[q] {
				met[q] = true
				users = append(users, candidate{q, held})
			}
		}
	}
	slices.SortFunc(users, func(a, b candidate) int { return whoseTurn(a.queue, b.queue) })
	return users
}

// fewest finds the first of those who hold the fewest slots.
func fewest(users []candidate) (first int) {
	for i, c := range users {
		if c.held < users[first].held {
			first = i
		}
	}
	return first
}
