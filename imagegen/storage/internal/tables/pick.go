package tables

import (
	"cmp"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/fair"
)

// claimTickets removes and returns the tickets of a claim, see fair.Share. The cost depends on the claim and on the
// number of models, not on the length of the queue.
func (w *waiting) claimTickets(d imagegen.ClaimRequest) (taken []ticket) {
	fair.Share(d, w.candidates(d), byTurn, func(_ *fair.Candidate[ticket], _ string, t ticket) {
		w.dequeue(t.ID)
		taken = append(taken, t)
	})
	return taken
}

// takeAged removes and returns up to n tickets that are due and were created at least age ago, oldest first. It goes
// over the whole queue.
func (w *waiting) takeAged(n int, age time.Duration, at clock.Reading) (taken []ticket) {
	for _, t := range w.tickets {
		if t.at.IsZero() && at.Age(t.since) >= age {
			taken = append(taken, t)
		}
	}
	slices.SortFunc(taken, func(a, b ticket) int { return cmp.Compare(a.ID, b.ID) })
	taken = taken[:min(max(n, 0), len(taken))]
	for _, t := range taken {
		w.dequeue(t.ID)
	}
	return taken
}

// candidates returns the users who may get something from a claim, by turn. Of each model with places it takes users
// from the front of the ring, until it has passed d.Most users who hold no slot: they come before everybody
// behind them, whatever those hold, and a claim has nothing left after d.Most of them.
func (w *waiting) candidates(d imagegen.ClaimRequest) (users []*fair.Candidate[ticket]) {
	var queues []*queue
	for model, ring := range w.rings {
		if !fair.HasPlace(d, model) {
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
			if fair.Allows(d, held) {
				queues = append(queues, q)
			}
		}
	}
	slices.SortFunc(queues, whoseTurn)
	for _, q := range slices.Compact(queues) { // a user may stand in several rings
		users = append(users, &fair.Candidate[ticket]{User: q.user, Held: d.Held[q.user], Due: q.due})
	}
	return users
}
