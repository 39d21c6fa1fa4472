package engine

import (
	"cmp"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"

	"github.com/imagegend/imagegend/imagegen/internal/bound"
)

// defaultMaxConcurrent is how many attempts at generations of a model are under way at once, unless the model
// says otherwise.
const defaultMaxConcurrent = 64

// places are those of a model, of which each attempt at its generations takes one.
type places struct {
	bound   *bound.Bound
	lines   lines
	offered int // to the queue, and so nobody else's
}

// room is how many attempts may begin.
func (p *places) room(now time.Time) int { return p.bound.Room(now) - p.offered }

// finding is what an attempt found of the upstream. The zero value is nothing.
type finding struct {
	worked     bool
	overloaded bool
	pause      time.Duration // that it wants then
}

// found is what the end of an attempt says of its upstream.
func found(delivered int, err error) finding {
	if p, ok := errors.AsType[*imagegen.ProviderError](err); ok && (p.Overloaded || p.Class == imagegen.ClassRateLimited) {
		return finding{overloaded: true, pause: p.RetryAfter}
	}
	return finding{worked: err == nil && delivered > 0}
}

func (p *places) end(had slot, found finding, now time.Time) {
	switch {
	case found.overloaded:
		p.bound.Overloaded(had.began, now, found.pause)
	case found.worked:
		p.bound.Done(had.began, now)
	default:
		p.bound.Cancel()
	}
}

// places are those of a model; as many as there are slots, if it is not known.
func (s *slots) places(model string) *places {
	p := s.of[model]
	if p == nil {
		p = &places{bound: bound.New(s.all), lines: newLines(model)}
		s.of[model] = p
	}
	return p
}

// setModels bounds the attempts at generations of each model.
func (s *slots) setModels(c *catalog) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, m := range c.offers {
		s.places(id).bound.SetMost(m.maxConcurrent(len(c.offers), s.all))
	}
	s.hand()
}

// maxConcurrent is how many attempts at generations of the model there are at once, at most: unless it says
// so itself, of several models each leaves half of the slots to the others.
func (m Model) maxConcurrent(models, slots int) int {
	most := m.MaxConcurrent
	if most > 0 {
		return min(most, slots)
	}
	if c, ok := m.Provider.(imagegen.ConcurrencyLimiter); ok {
		most = c.MaxConcurrent()
	}
	most = min(cmp.Or(most, defaultMaxConcurrent), slots)
	if models > 1 {
		most = min(most, (slots+1)/2)
	}
	return most
}

// load tells how busy a model's places are.
func (s *slots) load(model string) ModelLoad {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.places(model)
	return ModelLoad{Running: p.bound.Under(), Waiting: p.lines.callers, Bound: p.bound.Now(time.Now()), Most: p.bound.Most()}
}

// first is the line that is served next, of models that have a place; nil if there is none.
func (s *slots) first(now time.Time) (first *line) {
	for _, p := range s.of {
		l := p.lines.first()
		if l != nil && p.room(now) > 0 && (first == nil || l.before(first)) {
			first = l
		}
	}
	return first
}

// lookAgain hands out, later, what time alone opens, if anybody may wait for it.
func (s *slots) lookAgain(now time.Time) {
	var soonest time.Duration
	for _, p := range s.of {
		if p.lines.callers == 0 && s.asking == nil && s.better == nil || p.room(now) > 0 {
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

func (s *slots) looked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look = nil
	s.hand()
}
