package waiting

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// ends wakes the calls that wait for the end of a generation.
type ends struct {
	mu sync.Mutex // guards of, and each signal
	of map[imagegen.GenerationID]*endSignal
}

// endSignal exists only while somebody listens.
type endSignal struct {
	ended     chan struct{} // closed when the generation has ended
	listeners int
}

// listen returns a channel that is closed when the generation has ended. The caller must call leave once it no longer
// listens. An end before the call of listen is not reported: look at the record after it.
func (e *ends) listen(id imagegen.GenerationID) (ended <-chan struct{}, leave func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.of[id]
	if s == nil {
		s = &endSignal{ended: make(chan struct{})}
		e.of[id] = s
	}
	s.listeners++
	return s.ended, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if s.listeners--; s.listeners == 0 && e.of[id] == s {
			delete(e.of, id)
		}
	}
}

// awaited lists the generations to whose end somebody listens.
func (e *ends) awaited() []imagegen.GenerationID {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Keys(e.of))
}

// announce wakes everybody who listens to the end of a generation.
func (e *ends) announce(id imagegen.GenerationID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.of[id]; s != nil {
		close(s.ended)
		delete(e.of, id)
	}
}

// poller counts the calls that wait for generations which may end in another process. One goroutine polls for all of
// them, and exists only while there are any.
type poller struct {
	mu   sync.Mutex // guards n and stop
	n    int
	stop context.CancelFunc
}

// poll looks for such ends in the store until the last caller has called leave.
func (r *Room) poll() (leave func()) {
	p := &r.poller
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n++; p.n == 1 {
		ctx, stop := context.WithCancel(r.Draining)
		p.stop = stop
		go r.lookForEnds(ctx)
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.n--; p.n == 0 {
			p.stop()
		}
	}
}

// lookForEnds polls the store for awaited generations that do not run in this process.
func (r *Room) lookForEnds(ctx context.Context) {
	for Pause(ctx, pollEvery); ctx.Err() == nil; Pause(ctx, pollEvery) {
		here := r.RunsHere()
		for _, id := range r.ends.awaited() {
			if !here[id] && r.hasEnded(ctx, id) {
				r.ends.announce(id)
			}
		}
	}
}

// hasEnded reports whether a generation has ended, is gone, or was erased. An error of the store means no: the next
// poll asks again.
func (r *Room) hasEnded(ctx context.Context, id imagegen.GenerationID) bool {
	got, err := r.Store.Generation(ctx, id)
	return errors.Is(err, imagegen.ErrNotFound) || err == nil && (got.Terminal() || !got.Visible() && !got.Unsettled())
}
