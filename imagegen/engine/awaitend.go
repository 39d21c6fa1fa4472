package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Await implements [imagegen.Service]. At most 64 calls of one API key, or of one user without a
// key, wait at once. Waiting is cheap: the engine asks the Store at most once a second about each
// generation that may run in another process, however many calls wait for it.
func (s *Session) Await(ctx context.Context, id imagegen.GenerationID, most time.Duration) (imagegen.Generation, error) {
	e := s.engine
	leave, ok := e.endWaiters.count(caller{s.user, s.key})
	if !ok || most <= 0 {
		return s.Generation(ctx, id)
	}
	defer leave()
	told, forget := e.answerWaiters.end(id) // before the look, so that nothing is missed
	defer forget()
	g, err := s.Generation(ctx, id)
	if err != nil || g.Status.Terminal() {
		return g, err
	}
	defer e.watch()()
	pause(ctx, min(most, imagegen.MaxAwait), told, e.life.loop.Done())
	if ctx.Err() != nil {
		return imagegen.Generation{}, ctx.Err()
	}
	return s.Generation(ctx, id)
}

// watching counts the calls that wait for generations which may end in another process. One
// goroutine polls for all of them, and exists only while there are any.
type watching struct {
	mu   sync.Mutex // guards n and stop
	n    int
	stop context.CancelFunc
}

// watch polls the store for such ends until the last caller has called leave.
func (e *Engine) watch() (leave func()) {
	w := &e.watching
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n++; w.n == 1 {
		ctx, stop := context.WithCancel(e.life.loop)
		w.stop = stop
		go e.lookForEnds(ctx)
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.n--; w.n == 0 {
			w.stop()
		}
	}
}

// lookForEnds polls the store for awaited generations that do not run in this process.
func (e *Engine) lookForEnds(ctx context.Context) {
	for pause(ctx, awaitPoll); ctx.Err() == nil; pause(ctx, awaitPoll) {
		here := make(map[imagegen.GenerationID]bool)
		for f := range e.leases.all() {
			here[f.ID] = true
		}
		for _, id := range e.answerWaiters.awaited() {
			if !here[id] && e.hasEnded(ctx, id) {
				e.answerWaiters.tell(id)
			}
		}
	}
}

// hasEnded reports whether a generation has ended, is gone, or was erased. An error of
// the store means no: the next poll asks again.
func (e *Engine) hasEnded(ctx context.Context, id imagegen.GenerationID) bool {
	r, err := e.store.Generation(ctx, id)
	return errors.Is(err, imagegen.ErrNotFound) || err == nil && (r.Terminal() || !r.Visible() && !r.Unsettled())
}
