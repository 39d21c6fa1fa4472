package tables

import (
	"cmp"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// waiting is the queue, in memory: it follows from the records that are queued.
//
// Users with work that is due have a turn, and stand with it in a ring for each model that they have such
// work of. They are served from the front. Whoever was served goes to the end of all their rings, or leaves
// those where nothing of theirs is due any more. So each waits for one record of every other, at most,
// however long another's backlog is, and nobody for a model that they have not asked for.
type waiting struct {
	tickets map[imagegen.GenerationID]ticket
	queues  map[imagegen.UserID]*queue // of users with work that is due
	rings   map[string][]*queue        // of each model, by turn
	turns   uint64                     // the last that was given
	delayed []ticket                   // by when they are due
	own     map[imagegen.UserID]int    // how many tickets a user has
}

// ticket is the place of a queued record.
type ticket struct {
	imagegen.Fence
	user  imagegen.UserID
	model string
	since time.Time // when it was created
	at    time.Time // when it is due; zero: it is
}

// byTurn has work that was begun before ahead of fresh work of the same user.
func byTurn(a, b ticket) int {
	return cmp.Or(cmp.Compare(min(b.Attempt, 1), min(a.Attempt, 1)), cmp.Compare(a.ID, b.ID))
}

func byTime(a, b ticket) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.ID, b.ID)) }

// queue is the work of one user that is due.
type queue struct {
	user imagegen.UserID
	turn uint64
	due  map[string][]ticket // of each model, by turn
}

func whoseTurn(a, b *queue) int { return cmp.Compare(a.turn, b.turn) }

func newWaiting() waiting {
	return waiting{tickets: make(map[imagegen.GenerationID]ticket), queues: make(map[imagegen.UserID]*queue),
		rings: make(map[string][]*queue), own: make(map[imagegen.UserID]int)}
}

// insert puts a value into a sorted slice.
func insert[T any](in []T, v T, order func(a, b T) int) []T {
	i, _ := slices.BinarySearchFunc(in, v, order)
	return slices.Insert(in, i, v)
}

// remove takes v from what key names, and the key with the last of it.
func remove[T any](in map[string][]T, key string, v T, order func(a, b T) int) {
	if i, there := slices.BinarySearchFunc(in[key], v, order); there {
		in[key] = slices.Delete(in[key], i, i+1)
	}
	if len(in[key]) == 0 {
		delete(in, key)
	}
}

// add queues a ticket, in place of an earlier one with the same identifier.
func (w *waiting) add(t ticket) {
	w.remove(t.ID)
	w.tickets[t.ID] = t
	w.own[t.user]++
	if !t.at.IsZero() {
		w.delayed = insert(w.delayed, t, byTime)
		return
	}
	q := w.queues[t.user]
	if q == nil {
		w.turns++
		q = &queue{user: t.user, turn: w.turns, due: make(map[string][]ticket)}
		w.queues[t.user] = q
	}
	if len(q.due[t.model]) == 0 {
		w.rings[t.model] = insert(w.rings[t.model], q, whoseTurn)
	}
	q.due[t.model] = insert(q.due[t.model], t, byTurn)
}

// remove takes a ticket out. It does nothing if there is none.
func (w *waiting) remove(id imagegen.GenerationID) {
	t, there := w.tickets[id]
	if !there {
		return
	}
	delete(w.tickets, id)
	if w.own[t.user]--; w.own[t.user] == 0 {
		delete(w.own, t.user)
	}
	if !t.at.IsZero() {
		i, _ := slices.BinarySearchFunc(w.delayed, t, byTime)
		w.delayed = slices.Delete(w.delayed, i, i+1)
		return
	}
	w.served(w.queues[t.user], t)
}

// served has a user go to the end of their rings, or leave those where nothing of theirs is due any more.
func (w *waiting) served(q *queue, t ticket) {
	for model := range q.due {
		remove(w.rings, model, q, whoseTurn)
	}
	remove(q.due, t.model, t, byTurn)
	w.turns++
	q.turn = w.turns
	for model := range q.due {
		w.rings[model] = append(w.rings[model], q)
	}
	if len(q.due) == 0 {
		delete(w.queues, q.user)
	}
}

// admit has delayed work that is due wait for nothing but its turn. It returns the time until more is; 0:
// there is none.
func (w *waiting) admit(now time.Time) (next time.Duration) {
	for len(w.delayed) > 0 {
		t := w.delayed[0]
		if t.at.After(now) {
			return t.at.Sub(now)
		}
		w.remove(t.ID)
		t.at = time.Time{}
		w.add(t)
	}
	return 0
}
