package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// awaitPoll is how often a call looks for the end of work that another process may do.
const awaitPoll = time.Second

var errWaitedTooLong = errors.New("imagegen: the call waited as long as a synchronous call may")

// waiters are the calls that wait for the answer, or for the end, of another one.
type waiters struct {
	most  int        // of each caller
	mu    sync.Mutex // guards calls, ends and each endSignal
	calls map[caller]int
	ends  map[imagegen.GenerationID]*endSignal
}

// caller identifies who may have Config.MaxWaiting calls waiting: one API key, or one
// user without a key.
type caller struct {
	user imagegen.UserID
	key  imagegen.KeyID
}

// endSignal is closed when a generation has ended in this process. It exists only while
// somebody waits for it.
type endSignal struct {
	told    chan struct{}
	waiting int
}

// maxAwaits is how many calls of one caller may wait for the end of a generation at the
// same time.
const maxAwaits = 64

func newWaiters(most int) *waiters {
	return &waiters{most: most, calls: make(map[caller]int), ends: make(map[imagegen.GenerationID]*endSignal)}
}

// begin counts a call as waiting until leave is called. ok is false if too many of the
// caller's calls wait already.
func (w *waiters) begin(r imagegen.Record) (leave func(), ok bool) {
	return w.count(caller{r.User, r.KeyID})
}

func (w *waiters) count(c caller) (leave func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls[c] >= w.most {
		return nil, false
	}
	w.calls[c]++
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.calls[c]--; w.calls[c] == 0 {
			delete(w.calls, c)
		}
	}, true
}

// end returns a channel that is closed when the generation ends in this process. The
// caller must call leave once it no longer listens. An end before the call of end is not
// reported: look at the record after it.
func (w *waiters) end(id imagegen.GenerationID) (told <-chan struct{}, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.ends[id]
	if e == nil {
		e = &endSignal{told: make(chan struct{})}
		w.ends[id] = e
	}
	e.waiting++
	return e.told, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if e.waiting--; e.waiting == 0 && w.ends[id] == e {
			delete(w.ends, id)
		}
	}
}

// awaited lists the generations that somebody waits for.
func (w *waiters) awaited() []imagegen.GenerationID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.ends))
}

// tell wakes everybody who waits for the end of a generation.
func (w *waiters) tell(id imagegen.GenerationID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.ends[id]; e != nil {
		close(e.told)
		delete(w.ends, id)
	}
}

// awaitAnswer returns a record as soon as its first call can be answered, and meanwhile
// tells the caller of images that are shown. It is woken by an end in this process, and looks
// again every awaitPoll for one in another. errWaitedTooLong: that took longer than a
// synchronous call may. ErrOverloaded: the engine began to drain. ErrNotFound: the record
// was abandoned.
func (c *call) awaitAnswer(ctx context.Context, id imagegen.GenerationID) (imagegen.Record, error) {
	e := c.engine
	ctx, cancel := e.whileWaiting(ctx)
	defer cancel()
	for {
		r, err := c.lookOrWait(ctx, id)
		switch {
		case ctx.Err() != nil:
			return imagegen.Record{}, e.waitEnded(ctx)
		case err != nil || answerable(r):
			return r, err
		}
	}
}

// lookOrWait reads a record once. If its first call cannot be answered yet, it returns
// when that may have changed.
func (c *call) lookOrWait(ctx context.Context, id imagegen.GenerationID) (imagegen.Record, error) {
	told, leave := c.engine.answerWaiters.end(id) // before the look, so that nothing is missed
	defer leave()
	r, err := c.engine.store.Generation(ctx, id)
	if err == nil && !answerable(r) {
		c.show(r)
		pause(ctx, awaitPoll, told)
	}
	return r, err
}

// whileWaiting returns the context of a call that waits for another one. It ends with the
// caller's context, when the engine drains, and when the time limit of a synchronous call
// is over.
func (e *Engine) whileWaiting(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.life.loop, func() { cancel(imagegen.ErrStopping) })
	ctx, end := context.WithTimeoutCause(ctx, e.cfg.AttemptTimeout, errWaitedTooLong)
	return ctx, func() { end(); stop(); cancel(nil) }
}

// waitEnded returns why the context of whileWaiting ended.
func (e *Engine) waitEnded(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, imagegen.ErrStopping) {
		return imagegen.Overloaded(5*time.Second, cause)
	}
	return cause
}

// answerable reports whether the first call of the record can be answered.
func answerable(r imagegen.Record) bool {
	switch {
	case r.State == imagegen.StateCharging:
		return false
	case r.Async:
		return true
	}
	return r.Terminal() || !r.Visible()
}

// progress is what a synchronous call is told about its work: images that are shown, and
// finally the outcome.
type progress struct {
	record imagegen.Record
	err    error // with which the outcome is in doubt
	ended  bool
}

// follow waits for the end of the work. The work goes on if the caller leaves.
func (c *call) follow(ctx context.Context, id imagegen.GenerationID, heard <-chan progress) (imagegen.Result, error) {
	e := c.engine
	for {
		select {
		case <-ctx.Done():
			e.hangUp(id)
			return imagegen.Result{}, ctx.Err()
		case n := <-heard:
			switch {
			case n.err != nil:
				e.hangUp(id) // so that an equal call can join what recovery makes of it
				return imagegen.Result{}, unknownOutcome(id, n.err)
			case n.ended:
				return answer(n.record)
			}
			c.show(n.record)
		}
	}
}

// show tells the caller about images of work that is still running, if there are more
// than before.
func (c *call) show(r imagegen.Record) {
	if g := r.Generation(); c.request.Shown != nil && g.Status == imagegen.StatusProcessing && len(g.Images) > c.shown {
		c.shown = len(g.Images)
		c.request.Shown(g)
	}
}
