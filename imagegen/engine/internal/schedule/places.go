package schedule

import (
	"time"

	"github.com/imagegend/imagegend/imagegen/engine/internal/bound"
)

// places are those of a model. Each attempt with the model takes one. They are guarded by the
// mutex of Slots.
type places struct {
	bound   *bound.Bound
	queues  callerQueues
	lent    int  // to the queue, and so nobody else's
	offered bool // the model is on offer here; else queued work for it is left to other engines
}

// room is how many attempts may begin now.
func (p *places) room(now time.Time) int { return p.bound.Room(now) - p.lent }

// Finding is what an attempt says about the load of the upstream. The zero value says
// nothing.
type Finding struct {
	Worked     bool
	Overloaded bool
	Pause      time.Duration // that the upstream asks for then; 0: it named none
}

// attemptEnded gives a place back, and adapts the model's bound to what the attempt found.
func (p *places) attemptEnded(had Slot, found Finding, now time.Time) {
	switch {
	case found.Overloaded:
		p.bound.Overloaded(had.began, now, found.Pause)
	case found.Worked:
		p.bound.Done(had.began, now)
	default:
		p.bound.Cancel()
	}
}

// places are those of a model; as many as there are slots if the model is not known.
func (s *Slots) places(model string) *places {
	p := s.of[model]
	if p == nil {
		p = &places{bound: bound.New(s.all), queues: newCallerQueues(model)}
		s.of[model] = p
	}
	return p
}

// SetMost bounds the attempts with each offered model. The queue gets no places for other
// models.
func (s *Slots) SetMost(of map[string]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.of {
		p.offered = false
	}
	for model, most := range of {
		p := s.places(model)
		p.offered = true
		p.bound.SetMost(most)
	}
	s.callQueue() // other engines may have left work for a model that is new here
	s.hand()
}

// Load is how busy an engine is with one model.
type Load struct {
	Running int // attempts under way
	Waiting int // synchronous callers who wait for it, be it for a place or for a slot
	Bound   int // how many attempts there may be at once now: fewer than Most while the upstream is overloaded
	Most    int // how many there may ever be
}

// Load returns how busy a model's places are.
func (s *Slots) Load(model string) Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.places(model)
	return Load{Running: p.bound.UnderWay(), Waiting: p.queues.callers, Bound: p.bound.Now(time.Now()),
		Most: p.bound.Most()}
}

// first is the queue that is served next among models that have a place; nil if there is
// none.
func (s *Slots) first(now time.Time) (first *callerQueue) {
	for _, p := range s.of {
		l := p.queues.first()
		if l != nil && p.room(now) > 0 && (first == nil || l.before(first)) {
			first = l
		}
	}
	return first
}

// lookAgain sets a timer for places that open with time alone, if anybody may be waiting
// for them.
func (s *Slots) lookAgain(now time.Time) {
	var soonest time.Duration
	for _, p := range s.of {
		if p.queues.callers == 0 && s.asking == nil && s.better == nil || p.room(now) > 0 {
			continue
		}
		if opens := p.bound.Opens(now); opens > 0 && (soonest == 0 || opens < soonest) {
			soonest = opens
		}
	}
	if at := now.Add(soonest); soonest > 0 && (s.look == nil || at.Before(s.lookAt)) {
		if s.look != nil {
			s.look.Stop()
		}
		s.lookAt, s.look = at, time.AfterFunc(soonest, s.looked)
	}
}

// looked hands slots out when that timer fires.
func (s *Slots) looked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look = nil
	s.hand()
}
