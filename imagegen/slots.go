package imagegen

import (
	"context"
	"maps"
	"sync"
	"time"
)

// slots bounds the attempts under way. A slot that gets free goes to the user who holds the fewest; of
// those who hold as many, to the one who has waited longest since they were served. Some can be kept for
// users who hold none. A slot in use is never taken back.
//
// Callers wait in lines, one for each user. Whose queued work is next only the store knows: so the queue
// as a whole is offered slots, for users who hold few enough (offer), and counts as one more user among
// those who hold as many.
type slots struct {
	mu    sync.Mutex
	free  int
	kept  int            // of all, for users who hold none
	held  map[UserID]int // of users who hold any
	lines lines
	turns uint64        // the last that was given
	freed chan struct{} // closed at the next release

	asking chan Demand // nil: the queue does not ask
	turn   uint64      // of the queue; 0: it takes a new one when it asks next
}

func newSlots(n int) *slots {
	return &slots{free: n, held: make(map[UserID]int), lines: newLines(), freed: make(chan struct{})}
}

// keep keeps so many slots for users who hold none.
func (s *slots) keep(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = n
	s.hand()
}

// acquire waits for a slot, at most for the given time (0: for ever). ErrOverloaded, or ctx's error.
func (s *slots) acquire(ctx context.Context, u UserID, wait time.Duration) error {
	if s.tryAcquire(u) {
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
		return s.giveUp(w, Overloaded(2*time.Second, nil))
	}
}

// tryAcquire takes a slot if the user can have one and nobody waits.
func (s *slots) tryAcquire(u UserID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open(s.held[u]) || s.lines.callers > 0 {
		return false
	}
	s.take(u)
	return true
}

// open reports whether there is a slot for somebody who holds so many.
func (s *slots) open(held int) bool { return s.free > s.kept || s.free > 0 && held == 0 }

func (s *slots) take(u UserID) {
	s.free--
	s.hold(u, 1)
}

func (s *slots) hold(u UserID, change int) {
	if s.held[u] += change; s.held[u] == 0 {
		delete(s.held, u)
	}
	s.lines.moved(u, s.held[u])
}

func (s *slots) join(u UserID) *waiter {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.lines.join(u, s.held[u], s.next)
	s.hand() // a slot may have become free since
	return w
}

// next is the turn of whoever comes now.
func (s *slots) next() uint64 {
	s.turns++
	return s.turns
}

// release gives a user's slot back.
func (s *slots) release(u UserID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passOn(u)
}

func (s *slots) passOn(u UserID) {
	s.free++
	s.hold(u, -1)
	close(s.freed)
	s.freed = make(chan struct{})
	s.hand()
}

// giveUp leaves the line; a slot that came at the last moment is passed on.
func (s *slots) giveUp(w *waiter, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.lines.leave(w) {
		s.passOn(w.user)
	}
	return err
}

// hand gives free slots to those whose turn it is.
func (s *slots) hand() {
	for s.free > 0 {
		if d, ok := s.offer(); ok && s.asking != nil {
			d.Held = maps.Clone(s.held)
			s.free -= d.Most
			s.asking <- d
			s.asking = nil
			continue
		}
		l := s.lines.first()
		if l == nil || !s.open(l.held) {
			return
		}
		w := s.lines.serve(l, s.next)
		s.take(w.user)
		close(w.ready)
	}
}

// offer is what the queue may take of the free slots, if anything.
func (s *slots) offer() (d Demand, ok bool) {
	d.Most = min(s.free-s.kept, mostClaims)
	if d.Most <= 0 {
		d.Most, d.Below = min(s.free, mostClaims), 1
	}
	if l := s.lines.first(); l != nil && s.open(l.held) {
		d.Most, d.Below = 1, l.held
		if s.turn < l.turn {
			d.Below++
		}
		ok = d.Below > 0
		return d, ok
	}
	return d, d.Most > 0
}

// forQueue waits until slots can be offered to the queue; claimed ends the offer.
func (s *slots) forQueue(ctx context.Context) (Demand, error) {
	asking := make(chan Demand, 1)
	s.mu.Lock()
	s.asking = asking
	if s.turn == 0 {
		s.turn = s.next()
	}
	s.hand()
	s.mu.Unlock()
	select {
	case d := <-asking:
		return d, nil
	case <-ctx.Done():
		s.stopAsking(asking)
		return Demand{}, ctx.Err()
	}
}

func (s *slots) stopAsking(asking <-chan Demand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case d := <-asking:
		s.free += d.Most
	default:
	}
	s.asking = nil
	s.hand()
}

// claimed gives the slots of an offer to those whose work was claimed; the rest is free again. better is
// closed when the queue may be offered to users that this offer was not for; nil if it was for all.
func (s *slots) claimed(offered Demand, records []Record) (better <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free += offered.Most
	for _, r := range records {
		s.take(r.User)
	}
	if len(records) > 0 {
		s.turn = 0
	}
	s.hand()
	if offered.Below == 0 {
		return nil
	}
	if d, ok := s.offer(); ok && (d.Below == 0 || d.Below > offered.Below) {
		return closed
	}
	return s.freed
}

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// state tells how many slots are free, and how many callers wait.
func (s *slots) state() (free, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.free, s.lines.callers
}
