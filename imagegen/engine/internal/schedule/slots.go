package schedule

import (
	"context"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Slots bounds the attempts that run at once, in all and for each model. A slot that
// becomes free goes to the user who holds the fewest; among equals, to the one who was
// served longest ago. Callers who wait for a model without a place do not block others.
// Some slots can be kept for users who hold none. A slot in use is never taken back.
//
// Callers wait in queues, one for each model and user. Whose queued work is next only the
// store knows. So the store's queue as a whole is offered slots, for users who hold few
// enough and for models that have places (offer), and takes its turn like one more user.
//
// Every change that could let somebody begin ends in hand, with mu held: so nobody waits
// while there is a slot for them. At all times all = free + lent + what the users hold.
type Slots struct {
	mu    sync.Mutex // guards all that follows, also what it points to
	all   int
	free  int
	lent  int                     // to the queue while it looks for work, and so not free
	kept  int                     // of all, for users who hold none
	held  map[imagegen.UserID]int // of users who hold any
	of    map[string]*places
	turns uint64 // the last turn that was given; the user with the lower one waits longer

	asking  chan imagegen.ClaimRequest // nil: the queue does not ask
	turn    uint64                     // of the queue; 0: it takes a new one when it asks next
	refused imagegen.ClaimRequest      // of which the queue could use nothing
	partial bool                       // refused was not for all users and models
	better  chan struct{}              // closed once there is a better offer; nil: nobody waits for one
	called  bool                       // it was closed, and the queue has not asked since

	look   *time.Timer // for places that open with time
	lookAt time.Time
}

// Slot is a slot in use, with the place of its model. It must be given back by Release, once.
type Slot struct {
	user  imagegen.UserID
	model string
	began time.Time
}

// NewSlots returns n slots, all of them free.
func NewSlots(n int) *Slots {
	return &Slots{all: n, free: n, held: make(map[imagegen.UserID]int), of: make(map[string]*places)}
}

// Keep keeps n slots for users who hold none.
func (s *Slots) Keep(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = n
	s.hand()
}

// Acquire waits for a slot, at most for the given time. ErrOverloaded, or the error of ctx.
func (s *Slots) Acquire(ctx context.Context, u imagegen.UserID, model string, wait time.Duration) (Slot, error) {
	if got, ok := s.TryAcquire(u, model); ok {
		return got, nil
	}
	w := s.join(u, model)
	select {
	case <-w.ready:
		return w.slot, nil
	case <-ctx.Done():
		return Slot{}, s.giveUp(w, ctx.Err())
	case <-time.After(wait):
		return Slot{}, s.giveUp(w, imagegen.Overloaded(2*time.Second, nil))
	}
}

// TryAcquire takes a slot if the user can have one and nobody waits for the model. It never
// blocks.
func (s *Slots) TryAcquire(u imagegen.UserID, model string) (got Slot, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, now := s.places(model), time.Now()
	if !s.hasSlotFor(s.held[u]) || p.room(now) <= 0 || p.queues.callers > 0 {
		return Slot{}, false
	}
	return s.takeSlot(u, model, now), true
}

// hasSlotFor reports whether there is a slot for a user who holds that many: the kept ones are only
// for users who hold none.
func (s *Slots) hasSlotFor(held int) bool { return s.free > s.kept || s.free > 0 && held == 0 }

// takeSlot gives a slot and a place to a user. s.mu is held, here and in the methods below
// that are not exported.
func (s *Slots) takeSlot(u imagegen.UserID, model string, now time.Time) Slot {
	s.free--
	s.hold(u, 1)
	s.places(model).bound.Begin(now)
	return Slot{u, model, now}
}

// hold changes how many slots a user holds.
func (s *Slots) hold(u imagegen.UserID, change int) {
	if s.held[u] += change; s.held[u] == 0 {
		delete(s.held, u)
	}
	for _, p := range s.of {
		p.queues.moved(u, s.held[u])
	}
}

// join queues a caller.
func (s *Slots) join(u imagegen.UserID, model string) *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.places(model).queues.join(u, s.held[u], s.nextTurn)
	s.hand() // a slot may have become free since
	return w
}

// nextTurn is the turn of a user who comes now.
func (s *Slots) nextTurn() uint64 {
	s.turns++
	return s.turns
}

// Release gives a slot back, with what its attempt found about the upstream.
func (s *Slots) Release(had Slot, found Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passOn(had, found)
}

// passOn frees a slot and hands it to the next user.
func (s *Slots) passOn(had Slot, found Finding) {
	s.free++
	s.hold(had.user, -1)
	s.places(had.model).attemptEnded(had, found, time.Now())
	s.hand()
}

// giveUp leaves the queue and returns err. A slot that was handed over at the last moment is
// passed on.
func (s *Slots) giveUp(w *waiter, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.of[w.slot.model].queues.remove(w) {
		s.passOn(w.slot, Finding{})
	}
	return err
}

// hand gives the free slots to those whose turn it is, one after the other, since each slot
// that is given changes who is next. If the queue asks and there is an offer for it, the queue
// comes first, then the callers. At last the queue is woken if it could do more than before,
// and a timer set for places that open with time.
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
		if l == nil || !s.hasSlotFor(l.held) {
			break
		}
		if s.tellQueue(now); s.called && s.free <= s.kept+1 {
			break // the queue comes for this one, and callers must not be before it each time
		}
		w := s.of[l.model].queues.takeFirst(l, s.nextTurn)
		w.slot = s.takeSlot(w.slot.user, l.model, now)
		close(w.ready)
	}
	s.tellQueue(now)
	s.lookAgain(now)
}

// State returns how many slots are free, and how many callers wait.
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
