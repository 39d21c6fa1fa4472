package tables

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// grace is the lease of a record that begins to run by an Update, which names none.
const grace = 30 * time.Second

// live is what need not survive the process: leases, the length of the queue and who waits for it.
// It follows the database, by what transactions do once they are durable; its size is that of what
// is open.
type live struct {
	mu     sync.Mutex
	leases map[imagegen.GenerationID]lease // of every running record
	queued map[imagegen.UserID]int         // of users who have any
	all    int                             // that are queued
	wake   chan struct{}
}

// lease is the right of an attempt to bring its record further.
type lease struct {
	attempt int
	until   time.Time
}

func newLive() *live {
	return &live{leases: make(map[imagegen.GenerationID]lease), queued: make(map[imagegen.UserID]int), wake: make(chan struct{})}
}

// found counts a row that a former process left.
func (l *live) found(r row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Running() {
		l.leases[r.ID] = lease{attempt: r.Attempt}
	} else {
		l.count(r.User, 1)
	}
}

// count follows the length of the queue.
func (l *live) count(u imagegen.UserID, change int) {
	l.all += change
	if l.queued[u] += change; l.queued[u] == 0 {
		delete(l.queued, u)
	}
}

// moved follows a row that was replaced. until is the end of a new lease; zero: the lease stays,
// or begins at now.
func (l *live) moved(from, to row, now, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if from.State == imagegen.StateQueued {
		l.count(from.User, -1)
	}
	if to.State == imagegen.StateQueued {
		l.count(to.User, 1)
		close(l.wake)
		l.wake = make(chan struct{})
	}
	if !to.Running() {
		delete(l.leases, from.ID)
		return
	}
	if held, ok := l.leases[to.ID]; until.IsZero() && ok && held.attempt == to.Attempt {
		return
	}
	if until.IsZero() {
		until = now.Add(grace)
	}
	l.leases[to.ID] = lease{to.Attempt, until}
}

// lost counts a row that has left the queue; u is "" if it could not be told whose it was.
func (l *live) lost(u imagegen.UserID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all--; l.queued[u] > 0 {
		l.queued[u]--
	}
}

// forget ends a lease.
func (l *live) forget(id imagegen.GenerationID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.leases, id)
}

// abandoned returns up to n attempts whose lease has ended.
func (l *live) abandoned(n int, now time.Time) []imagegen.Fence {
	l.mu.Lock()
	defer l.mu.Unlock()
	var fences []imagegen.Fence
	for id, held := range l.leases {
		if !now.Before(held.until) {
			fences = append(fences, imagegen.Fence{ID: id, Attempt: held.attempt})
		}
	}
	slices.SortFunc(fences, func(a, b imagegen.Fence) int { return cmp.Compare(a.ID, b.ID) })
	return fences[:min(max(n, 0), len(fences))]
}

// extend prolongs leases and returns those that are lost.
func (l *live) extend(until time.Time, fences []imagegen.Fence) (lost []imagegen.Fence) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range fences {
		if held, ok := l.leases[f.ID]; !ok || held.attempt != f.Attempt {
			lost = append(lost, f)
			continue
		}
		l.leases[f.ID] = lease{f.Attempt, until}
	}
	return lost
}

func (l *live) length(u imagegen.UserID) imagegen.QueueLength {
	l.mu.Lock()
	defer l.mu.Unlock()
	return imagegen.QueueLength{All: l.all, Own: l.queued[u]}
}

func (l *live) woken() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wake
}
