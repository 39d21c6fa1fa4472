package schedule

import (
	"context"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Slots bounds the attempts under way, in all and of each model. A slot that gets free goes to the user who
// holds the fewest; of those who hold as many, to the one who has waited longest since they were served. Who
// waits for a model that has no place stands in nobody's way. Some slots can be kept for users who hold
// none. A slot in use is never taken back.
//
// Callers wait in lines, for each model one of each user. Whose queued work is next only the store knows: so
// the queue as a whole is offered slots, for users who hold few enough and models that have places (offer),
// and counts as one more user among those who hold as many.
type Slots struct {
	mu    sync.Mutex
	all   int
	free  int
	lent  int                     // to the queue while it looks for work, and so not free
	kept  int                     // of all, for users who hold none
	held  map[imagegen.UserID]int // of users who hold any
	of    map[string]*places
	turns uint64 // the last that was given

	asking  chan imagegen.Demand // nil: the queue does not ask
	turn    uint64               // of the queue; 0: it takes a new one when it asks next
	refused imagegen.Demand      // of which the queue could use nothing
	partial bool                 // declined was not for all users and models
	better  chan struct{}        // closed once there is a better offer; nil: nobody waits for one

	look   *time.Timer // for places that open with time
	lookAt time.Time
}

// Slot is one that is in use.
type Slot struct {
	user  imagegen.UserID
	model string
	began time.Time
}

// NewSlots returns so many slots, all of them free.
func NewSlots(n int) *Slots {
	return &Slots{all: n, free: n, held: make(map[imagegen.UserID]int), of: make(map[string]*places)}
}

// Keep keeps so many slots for users who hold none.
func (s *Slots) Keep(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = n
	s.hand()
}

// Acquire waits for a slot, at most for the given time (0: for ever). ErrOverloaded, or ctx's error.
func (s *Slots) Acquire(ctx context.Context, u imagegen.UserID, model string, wait time.Duration) (Slot, error) {
	if got, ok := s.TryAcquire(u, model); ok {
		return got, nil
	}
	var expired <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		expired = t.C
	}
	w := s.join(u, model)
	select {
	case <-w.ready:
		return w.slot, nil
	case <-ctx.Done():
		return Slot{}, s.giveUp(w, ctx.Err())
	case <-expired:
		return Slot{}, s.giveUp(w, imagegen.Overloaded(2*time.Second, nil))
	}
}

// TryAcquire takes a slot if the user can have one and nobody waits for the model.
func (s *Slots) TryAcquire(u imagegen.UserID, model string) (got Slot, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, now := s.places(model), time.Now()
	if !s.open(s.held[u]) || p.room(now) <= 0 || p.queues.callers > 0 {
		return Slot{}, false
	}
	return s.take(u, model, now), true
}

// open reports whether there is a slot for somebody who holds so many.
func (s *Slots) open(held int) bool { return s.free > s.kept || s.free > 0 && held == 0 }

func (s *Slots) take(u imagegen.UserID, model string, now time.Time) Slot {
	s.free--
	s.hold(u, 1)
	s.places(model).bound.Begin(now)
	return Slot{u, model, now}
}

func (s *Slots) hold(u imagegen.UserID, change int) {
	if s.held[u] += change; s.held[u] == 0 {
		delete(s.held, u)
	}
	for _, p := range s.of {
		p.queues.moved(u, s.held[u])
	}
}

func (s *Slots) join(u imagegen.UserID, model string) *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.places(model).queues.join(u, s.held[u], s.next)
	s.hand() // a slot may have become free since
	return w
}

// next is the turn of whoever comes now.
func (s *Slots) next() uint64 {
	s.turns++
	return s.turns
}

// Release gives a slot back, and tells what its attempt found of the upstream.
func (s *Slots) Release(had Slot, found Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passOn(had, found)
}

func (s *Slots) passOn(had Slot, found Finding) {
	s.free++
	s.hold(had.user, -1)
	s.places(had.model).end(had, found, time.Now())
	s.hand()
}

// giveUp leaves the line; a slot that came at the last moment is passed on.
func (s *Slots) giveUp(w *waiter, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.of[w.slot.model].queues.remove(w) {
		s.passOn(w.slot, Finding{})
	}
	return err
}

// hand gives free slots to those whose turn it is.
func (s *Slots) hand() {
	now := time.Now()
	for s.free > 0 {
		l := s.first(now)
		if s.asking != nil {
			if d, ok := s.offer(now, l); ok {
				s.give(d, now)
				continue
			}
		}
		if l == nil || !s.open(l.held) {
			break
		}
		w := s.of[l.model].queues.serve(l, s.next)
		w.slot = s.take(w.slot.user, l.model, now)
		close(w.ready)
	}
	s.tellQueue(now)
	s.lookAgain(now)
}

// State tells in how many slots there is no attempt, and how many callers wait.
func (s *Slots) State() (free, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.of {
		waiting += p.queues.callers
	}
	return s.free + s.lent, waiting
}

// Kept is how many slots are kept for users who hold none: one in eight.
func Kept(all int) int {
	if all < 2 {
		return 0
	}
	return max(1, all/8)
}
