package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Await implements [imagegen.Service]. However many wait, the store is asked once a second for each
// generation that ends elsewhere, and not at all for those that end here.
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

// watching is who waits for ends that may come about elsewhere.
type watching struct {
	mu   sync.Mutex
	n    int
	stop context.CancelFunc
}

// watch looks for such ends until leave of the last who called it.
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

// lookForEnds asks the store for what is awaited and not under way here.
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

func (e *Engine) hasEnded(ctx context.Context, id imagegen.GenerationID) bool {
	r, err := e.store.Generation(ctx, id)
	return errors.Is(err, imagegen.ErrNotFound) || err == nil && (r.Terminal() || !r.Visible() && !r.Unsettled())
}
