package tables

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// take removes and returns the tickets of a claim, in the order that imagegen.Store.Claim describes: each
// goes to the user who then holds the fewest slots, among equals to the one whose turn is first. The cost
// depends on the claim and on the number of models, not on the length of the queue.
func (w *waiting) take(d imagegen.Demand) (taken []ticket) {
	d.Places = maps.Clone(d.Places)
	users := w.candidates(d)
	for len(taken) < d.Most && len(users) > 0 {
		i := fewest(users)
		c := users[i]
		users = slices.Delete(users, i, i+1) // and put at the end again below: the turn is over
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

// takeOld removes and returns up to n tickets that are due and were created no later than by, oldest first. It
// goes over the whole queue.
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

// first finds a user's first work among the models that have a place left.
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
	held int // slots, with those that this claim has given
}

// allows reports whether a claim is for users who hold this many slots.
func allows(d imagegen.Demand, held int) bool { return d.Below == 0 || held < d.Below }

// candidates returns the users who may get something from a claim, by turn. Of each model with places it takes users
// from the front of the ring, until it has passed d.Most users who hold no slot: they come before everybody
// behind them, whatever those hold, and a claim has nothing left after d.Most of them.
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

// fewest returns the index of the user who holds the fewest slots; among equals, of the first.
func fewest(users []candidate) (first int) {
	for i, c := range users {
		if c.held < users[first].held {
			first = i
		}
	}
	return first
}
