package engine

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/waiting"
)

// Await implements [imagegen.Service]. At most 64 calls of one API key, or of one user without a
// key, wait at once, in whichever interface. Waiting is cheap: the engine asks the Store at most once a second about
// each generation that may run in another process, however many calls wait for it. A key that is revoked or expires,
// and a user who is disabled, end the wait within a second, with the errors of Engine.Authenticate.
func (s *Session) Await(ctx context.Context, id imagegen.GenerationID,
	most time.Duration) (g imagegen.Generation, err error) {
	look := func() (ended bool, err error) {
		g, err = s.Generation(ctx, id)
		return g.Status.Terminal(), err
	}
	if err := s.engine.waiting.Await(ctx, s.caller(), id, most, look, s.mayStillWait); err != nil {
		return imagegen.Generation{}, err
	}
	return g, nil
}

// caller is whose calls are counted with those of the session.
func (s *Session) caller() waiting.Caller { return waiting.Caller{User: s.Payer(), Key: s.key} }

// mayStillWait is usable for a call that waits. Without a key it refuses a disabled user; an embedder may have users of
// its own.
func (s *Session) mayStillWait(ctx context.Context) error {
	if err := s.usable(ctx); err != nil || s.key != "" {
		return err
	}
	if u, err := s.engine.accounts.User(ctx, s.user); err == nil && !u.DisabledAt.IsZero() {
		return imagegen.ErrInvalidKey
	}
	return nil
}

// runsHere lists the generations whose attempts this engine makes.
func (e *Engine) runsHere() map[imagegen.GenerationID]bool {
	here := make(map[imagegen.GenerationID]bool)
	for f := range e.leases.all() {
		here[f.ID] = true
	}
	return here
}

// progress is what a synchronous call hears about its work: images that are shown, and
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
			e.waiting.HangUp(id)
			return imagegen.Result{}, ctx.Err()
		case n := <-heard:
			switch {
			case n.err != nil:
				e.waiting.HangUp(id) // so that an equal call can join what recovery makes of it
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
	if g := r.Generation(); c.request.OnProgress != nil && g.Status == imagegen.StatusProcessing &&
		len(g.Images) > c.shown {
		c.shown = len(g.Images)
		c.request.OnProgress(g)
	}
}
