package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// hangUpWait is how long a repeated call waits for the first caller to hang up, since a
// proxy may report that late.
const hangUpWait = 2 * time.Second

// joinKey is equal for calls that may join each other; zero for a call that joins
// nothing.
func joinKey(r imagegen.Record, j *imagegen.Joining) [32]byte {
	if j == nil || r.Async || r.IdempotencyKey != "" {
		return [32]byte{}
	}
	h := sha256.New()
	for _, s := range append([]string{string(r.User), string(r.KeyID), string(r.Fingerprint[:])}, j.Also...) {
		h.Write(binary.AppendUvarint(nil, uint64(len(s)))) // lengths keep neighbours apart
		h.Write([]byte(s))
	}
	return [32]byte(h.Sum(nil))
}

// join answers a call that equals one whose caller hung up, if there is one. A joined call
// counts as a caller of the first one's work, so it hangs up in turn if it fails or leaves.
func (c *call) join(ctx context.Context) (imagegen.Result, bool, error) {
	e := c.engine
	if c.record.JoinKey == ([32]byte{}) {
		return imagegen.Result{}, false, nil
	}
	id, err := c.joined(ctx)
	if err != nil || id == "" {
		return imagegen.Result{}, false, imagegen.ToUserError(err)
	}
	r, err := c.awaitJoined(ctx, id)
	switch {
	case errors.Is(err, imagegen.ErrNotFound) || err == nil && r.State != imagegen.StateSucceeded: // it was refunded: the work is done anew
		e.open.forget(id)
		return imagegen.Result{}, false, nil
	case err != nil:
		e.hangUp(id)
		return imagegen.Result{}, false, imagegen.ToUserError(err)
	}
	result, err := answer(r)
	result.Replayed = true
	return result, true, err
}

// joined takes the place of a caller who hung up; "" if there is none. It looks in memory
// first, then for what the store has marked, and waits only if the client says that it
// repeats a call.
func (c *call) joined(ctx context.Context) (imagegen.GenerationID, error) {
	e := c.engine
	id, left := e.open.join(c.record.JoinKey)
	if id != "" {
		return id, nil
	}
	id, err := e.joinUndelivered(ctx, c.record)
	if id != "" || err != nil || !c.request.Joining.Retry {
		return id, err
	}
	return c.joinLate(ctx, left)
}

// joinUndelivered joins a call that has ended, possibly in an earlier process.
func (e *Engine) joinUndelivered(ctx context.Context, r imagegen.Record) (imagegen.GenerationID, error) {
	records, err := e.store.Undelivered(ctx, r.User, r.JoinKey)
	if err != nil {
		return "", err
	}
	for _, former := range records {
		if e.now().Sub(former.CompletedAt) < e.cfg.JoinWindow && e.open.addStored(former) {
			return former.ID, nil
		}
	}
	return "", nil
}

// joinLate waits up to hangUpWait for the first caller to hang up.
func (c *call) joinLate(ctx context.Context, left <-chan struct{}) (id imagegen.GenerationID, err error) {
	e := c.engine
	leave, ok := e.answerWaiters.begin(c.record)
	if !ok {
		return "", tooManyWaiting()
	}
	defer leave()
	ctx, cancel := e.whileWaiting(ctx)
	defer cancel()
	late := time.NewTimer(hangUpWait)
	defer late.Stop()
	for id == "" {
		select {
		case <-left:
			id, left = e.open.join(c.record.JoinKey)
		case <-late.C:
			return e.open.joinOnly(c.record.JoinKey), nil
		case <-ctx.Done():
			return "", e.waitEnded(ctx)
		}
	}
	return id, nil
}

// awaitJoined waits for the end of a generation whose call was joined, and then checks
// the key again.
func (c *call) awaitJoined(ctx context.Context, id imagegen.GenerationID) (imagegen.Record, error) {
	leave, ok := c.engine.answerWaiters.begin(c.record)
	if !ok {
		return imagegen.Record{}, tooManyWaiting()
	}
	defer leave()
	r, err := c.awaitAnswer(ctx, id)
	if errors.Is(err, errWaitedTooLong) {
		return r, imagegen.Overloaded(inUseRetry, err)
	}
	return r, c.stillUsable(ctx, err)
}

func tooManyWaiting() error {
	return imagegen.Overloaded(inUseRetry, errors.New("imagegen: too many calls of this API key wait for the answer of another one"))
}

// Answered tells the engine whether the answer to a Generate with Joining reached its caller
// completely. If it did not, an equal call may join. id is that of the Result. Answered does
// nothing for other generations, and for a call that was reported before.
func (s *Session) Answered(id imagegen.GenerationID, received bool) {
	e := s.engine
	if !received {
		e.hangUp(id)
		return
	}
	if r, unmark := e.open.received(id); unmark {
		e.markDelivery(r, imagegen.Delivery{})
		e.open.forget(id)
	}
}

// hangUp notes that a caller has left without the answer.
func (e *Engine) hangUp(id imagegen.GenerationID) {
	if r, mark := e.open.hangUp(id); mark {
		e.markUndelivered(r)
	}
}

// endOpenCall notes how a generation ended whose call may be joined.
func (e *Engine) endOpenCall(r imagegen.Record) {
	if mark := e.open.end(r); mark {
		e.markUndelivered(r)
	}
}

// endLeftCalls looks for the end of calls whose callers have left and whose end nobody here
// has heard of: another engine on the store may have recovered them, or the answer of the
// store was lost. Without it an equal call could join them for ever.
func (e *Engine) endLeftCalls(ctx context.Context) {
	for _, id := range e.open.left() {
		r, err := e.store.Generation(ctx, id)
		switch {
		case errors.Is(err, imagegen.ErrNotFound):
			e.open.forget(id)
		case err == nil && r.Terminal():
			e.endOpenCall(r)
		}
	}
}

// markUndelivered records that nobody has received the answer. If an equal call received
// it meanwhile, the mark is removed again.
func (e *Engine) markUndelivered(r imagegen.Record) {
	e.markDelivery(r, imagegen.Delivery{Undelivered: true})
	if e.open.setMarked(r.ID) {
		e.markDelivery(r, imagegen.Delivery{})
	}
}

// markDelivery writes the mark to the store. A lost mark costs the caller a second
// charge, and never an image.
func (e *Engine) markDelivery(r imagegen.Record, d imagegen.Delivery) {
	ctx, cancel := withoutCancel(context.Background())
	defer cancel()
	if _, err := e.update(ctx, r.Fence(), d); err != nil && !errors.Is(err, imagegen.ErrStale) && !errors.Is(err, imagegen.ErrTransition) {
		e.cfg.Log.Warn("whether an answer was received could not be recorded", "generation", r.ID, "error", err)
	}
}
