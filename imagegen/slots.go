package imagegen

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// slots bounds the attempts under way and hands each slot that gets free to the user whose turn it
// is: turn = the later of the turn served last and the user's latest, plus one. So a user with a
// hundred callers waiting delays another's first by one slot, not by a hundred.
type slots struct {
	mu      sync.Mutex
	free    int
	served  uint64
	users   map[UserID]*standing // of users who wait
	waiting waiters
	arrived uint64
}

// queueUser stands for all queued work, which has its own turns in the store.
const queueUser UserID = ""

func newSlots(n int) *slots { return &slots{free: n, users: make(map[UserID]*standing)} }

// acquire waits for a slot, at most for the given time (0: for ever). ErrOverloaded, or ctx's error.
func (s *slots) acquire(ctx context.Context, u UserID, wait time.Duration) error {
	if s.tryAcquire() {
		return nil
	}
	var expired <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		expired = t.C
	}
	w := s.join(u)
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		return s.giveUp(w, ctx.Err())
	case <-expired:
		return s.giveUp(w, overloaded(2*time.Second, nil))
	}
}

// tryAcquire takes a slot if one is free and nobody waits.
func (s *slots) tryAcquire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 || len(s.waiting) > 0 {
		return false
	}
	s.free--
	return true
}

func (s *slots) join(u UserID) *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrived++
	in := s.users[u]
	if in == nil {
		in = &standing{}
		s.users[u] = in
	}
	in.waiting++
	in.latest = max(s.served, in.latest) + 1
	w := &waiter{user: u, turn: in.latest, arrived: s.arrived, ready: make(chan struct{})}
	heap.Push(&s.waiting, w)
	s.hand() // a slot may have become free since
	return w
}

func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	s.hand()
}

// state tells how many slots are free, and how many callers wait.
func (s *slots) state() (free, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.free, len(s.waiting)
}

// hand gives free slots to those whose turn it is.
func (s *slots) hand() {
	for s.free > 0 && len(s.waiting) > 0 {
		w := heap.Pop(&s.waiting).(*waiter)
		s.free--
		s.served = w.turn
		s.forget(w)
		close(w.ready)
	}
}

// giveUp leaves the queue; a slot that came at the last moment is passed on.
func (s *slots) giveUp(w *waiter, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.index < 0 {
		s.free++
		s.hand()
		return err
	}
	heap.Remove(&s.waiting, w.index)
	s.forget(w)
	return err
}

func (s *slots) forget(w *waiter) {
	in := s.users[w.user]
	if in.waiting--; in.waiting == 0 {
		delete(s.users, w.user)
	}
}

// standing is how a user stands in the queue.
type standing struct {
	waiting int
	latest  uint64 // turn
}

type waiter struct {
	user    UserID
	turn    uint64
	arrived uint64
	index   int // in waiters; -1 once out of it
	ready   chan struct{}
}

// waiters is a heap by turn, then by arrival.
type waiters []*waiter

func (h waiters) Len() int { return len(h) }
func (h waiters) Less(i, j int) bool {
	if h[i].turn != h[j].turn {
		return h[i].turn < h[j].turn
	}
	return h[i].arrived < h[j].arrived
}
func (h waiters) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *waiters) Push(x any) {
	w := x.(*waiter)
	w.index = len(*h)
	*h = append(*h, w)
}
func (h *waiters) Pop() any {
	w := (*h)[len(*h)-1]
	w.index = -1
	*h = (*h)[:len(*h)-1]
	return w
}
