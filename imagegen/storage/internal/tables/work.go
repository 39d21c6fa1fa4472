package tables

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
)

// grace is the lease of a record that begins to run by an Update, which has no lease to give. In this time the
// engine must extend it.
const grace = 30 * time.Second

// work is what need not survive the process: leases, the queue and who waits for it. It follows the
// database: transactions call moved once they are durable, in the order of their commits. Its size is that of
// what is open. It is safe for concurrent use.
type work struct {
	mu      sync.Mutex                      // guards everything below
	leases  map[imagegen.GenerationID]lease // of every running record
	waiting waiting
	wake    chan struct{} // closed, and replaced, when a record is queued
}

// lease is the right of an attempt to change its record until a time, which is by the steady clock. The zero time
// is in the past: the lease has ended.
type lease struct {
	attempt int
	until   time.Time
}

func newWork() *work {
	return &work{leases: make(map[imagegen.GenerationID]lease), waiting: newWaiting(), wake: make(chan struct{})}
}

// found adds an open row that a former process left: with a lease that has ended if it runs, else in the queue. What
// is left of a delay follows from the judged time, since a steady clock does not outlive its process.
func (w *work) found(r row, at clock.Reading) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Running() {
		w.leases[r.ID] = lease{attempt: r.Attempt}
		return
	}
	w.waiting.enqueue(r.ticket(at.Steady, min(r.Delay, r.Due.Sub(at.Now))))
}

// ticket makes the ticket of a queued row; delay is how long it is not due yet, from now on.
func (r row) ticket(now time.Time, delay time.Duration) ticket {
	t := ticket{Fence: r.Fence(), user: r.Account(), model: r.Model, since: r.CreatedAt}
	if delay > 0 {
		t.at = now.Add(delay)
	}
	return t
}

// moved follows a row that was replaced. until is the end of a new lease. Zero: an attempt keeps the lease
// that it has, and a new one gets grace.
func (w *work) moved(from, to row, now, until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if from.State == imagegen.StateQueued {
		w.waiting.dequeue(from.ID)
	}
	if to.State == imagegen.StateQueued {
		w.waiting.enqueue(to.ticket(now, to.Delay))
		close(w.wake)
		w.wake = make(chan struct{})
	}
	if !to.Running() {
		delete(w.leases, from.ID)
		return
	}
	if held, ok := w.leases[to.ID]; until.IsZero() && ok && held.attempt == to.Attempt {
		return
	}
	if until.IsZero() {
		until = now.Add(grace)
	}
	w.leases[to.ID] = lease{to.Attempt, until}
}

// claim removes from the queue what is to be claimed, so that nobody else gets it. next is the time until
// another record becomes due; 0: none is known.
func (w *work) claim(d imagegen.ClaimRequest, at clock.Reading) (taken []ticket, next time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	next = w.waiting.admit(at.Steady)
	return w.waiting.claimTickets(d), next
}

// takeAged is take for records that were created at least age ago.
func (w *work) takeAged(n int, age time.Duration, at clock.Reading) []ticket {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting.admit(at.Steady)
	return w.waiting.takeAged(n, age, at)
}

// putBack returns tickets to the queue after a claim that failed. Their users have lost their turns by that. A
// ticket whose record was changed meanwhile is dropped by the claim that takes it next.
func (w *work) putBack(taken []ticket) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range taken {
		w.waiting.enqueue(t)
	}
}

// forget ends a lease.
func (w *work) forget(id imagegen.GenerationID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.leases, id)
}

// abandoned returns up to n attempts whose lease has ended, in the order in which they ended. They stay abandoned until
// somebody leases them.
func (w *work) abandoned(n int, now time.Time) []imagegen.Fence {
	w.mu.Lock()
	defer w.mu.Unlock()
	var fences []imagegen.Fence
	for id, held := range w.leases {
		if !now.Before(held.until) {
			fences = append(fences, imagegen.Fence{ID: id, Attempt: held.attempt})
		}
	}
	slices.SortFunc(fences, func(a, b imagegen.Fence) int {
		return cmp.Or(w.leases[a.ID].until.Compare(w.leases[b.ID].until), cmp.Compare(a.ID, b.ID))
	})
	return fences[:min(max(n, 0), len(fences))]
}

// extend prolongs leases, also such that have ended but were taken by nobody yet, and returns the lost ones.
func (w *work) extend(until time.Time, fences []imagegen.Fence) (lost []imagegen.Fence) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range fences {
		if held, ok := w.leases[f.ID]; !ok || held.attempt != f.Attempt {
			lost = append(lost, f)
			continue
		}
		w.leases[f.ID] = lease{f.Attempt, until}
	}
	return lost
}

// length is how many tickets there are, delayed ones included, and how many of them are the user's.
func (w *work) length(u imagegen.UserID) imagegen.QueueLength {
	w.mu.Lock()
	defer w.mu.Unlock()
	return imagegen.QueueLength{All: len(w.waiting.tickets), Own: w.waiting.own[u]}
}

// woken returns the channel that the next queued record closes.
func (w *work) woken() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wake
}
