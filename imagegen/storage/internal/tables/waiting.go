package tables

import (
	"cmp"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// waiting is the queue, in memory: it follows from the records that are queued. Its user, work, guards it with
// a lock.
//
// Each user with work that is due has a turn, a number that rises with time. With it the user stands in one ring
// for each model that this work is for. Users are served from the front of a ring. A user who was served goes to the
// end of all their rings, and leaves those of models for which they have nothing due any more. So a user waits for at
// most one record of every other user, however long another's backlog is, and never for a model that they
// have not asked for.
type waiting struct {
	tickets map[imagegen.GenerationID]ticket // all, due or delayed
	queues  map[imagegen.UserID]*queue       // of users with work that is due; none is empty
	rings   map[string][]*queue              // of each model with work that is due, by turn
	turns   uint64                           // the last turn that was given
	delayed []ticket                         // those not due yet, in the order of byTime
	own     map[imagegen.UserID]int          // how many tickets a user has; never 0
}

// ticket is the place of a queued record.
type ticket struct {
	imagegen.Fence
	user  imagegen.UserID
	model string
	since time.Time // when it was created
	at    time.Time // when it is due, by the steady clock; zero: it is due
}

// byTurn orders the work of one user: what was begun before comes first, then the lower identifier.
func byTurn(a, b ticket) int {
	return cmp.Or(cmp.Compare(min(b.Attempt, 1), min(a.Attempt, 1)), cmp.Compare(a.ID, b.ID))
}

// byTime orders delayed work by when it is due.
func byTime(a, b ticket) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.ID, b.ID)) }

// queue is the work of one user that is due. Rings are sorted by turn, so a queue leaves them all before its
// turn changes.
type queue struct {
	user imagegen.UserID
	turn uint64              // unique
	due  map[string][]ticket // of each model, in the order of byTurn; no list is empty
}

func whoseTurn(a, b *queue) int { return cmp.Compare(a.turn, b.turn) }

func newWaiting() waiting {
	return waiting{tickets: make(map[imagegen.GenerationID]ticket), queues: make(map[imagegen.UserID]*queue),
		rings: make(map[string][]*queue), own: make(map[imagegen.UserID]int)}
}

// insert puts a value into a slice that is sorted by order.
func insert[T any](in []T, v T, order func(a, b T) int) []T {
	i, _ := slices.BinarySearchFunc(in, v, order)
	return slices.Insert(in, i, v)
}

// remove takes v out of the sorted list of a key, and the key out of the map with its last value.
func remove[T any](in map[string][]T, key string, v T, order func(a, b T) int) {
	if i, there := slices.BinarySearchFunc(in[key], v, order); there {
		in[key] = slices.Delete(in[key], i, i+1)
	}
	if len(in[key]) == 0 {
		delete(in, key)
	}
}

// enqueue queues a ticket, in place of an earlier one with the same identifier.
func (w *waiting) enqueue(t ticket) {
	w.dequeue(t.ID)
	w.tickets[t.ID] = t
	w.own[t.user]++
	if !t.at.IsZero() {
		w.delayed = insert(w.delayed, t, byTime)
		return
	}
	q := w.queues[t.user]
	if q == nil { // the user had nothing due, and so joins the end
		w.turns++
		q = &queue{user: t.user, turn: w.turns, due: make(map[string][]ticket)}
		w.queues[t.user] = q
	}
	if len(q.due[t.model]) == 0 {
		w.rings[t.model] = insert(w.rings[t.model], q, whoseTurn)
	}
	q.due[t.model] = insert(q.due[t.model], t, byTurn)
}

// dequeue takes a ticket out. It does nothing if there is none.
func (w *waiting) dequeue(id imagegen.GenerationID) {
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

// served takes a ticket out of a user's queue, and sends the user to the end of their rings. The user leaves the
// rings of models for which nothing of theirs is due any more.
func (w *waiting) served(q *queue, t ticket) {
	// Out of all rings first: they are sorted by the turn, which changes below.
	for model := range q.due {
		remove(w.rings, model, q, whoseTurn)
	}
	remove(q.due, t.model, t, byTurn)
	w.turns++
	q.turn = w.turns
	for model := range q.due {
		w.rings[model] = append(w.rings[model], q) // the turn is the highest, so the ring stays sorted
	}
	if len(q.due) == 0 {
		delete(w.queues, q.user)
	}
}

// admit moves delayed work whose time has come to where it waits only for its turn. It returns the time until
// the next delayed work is due; 0: there is none.
func (w *waiting) admit(now time.Time) (next time.Duration) {
	for len(w.delayed) > 0 {
		t := w.delayed[0]
		if t.at.After(now) {
			return t.at.Sub(now)
		}
		w.dequeue(t.ID)
		t.at = time.Time{}
		w.enqueue(t)
	}
	return 0
}
