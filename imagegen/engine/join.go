package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/waiting"
)

// joinKey is equal for calls that may join each other; zero for a call that joins
// nothing.
func joinKey(r imagegen.Record, q imagegen.GenerateRequest) [32]byte {
	j := q.Join
	if j == nil || r.Async || r.IdempotencyKey != "" {
		return [32]byte{}
	}
	h := sha256.New()
	for _, s := range append([]string{string(r.User), string(r.KeyID), string(r.Fingerprint[:]), q.EndUser},
		j.MatchValues...) {
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
	id, err := e.waiting.Join(ctx, c.session.caller(), c.record, c.request.Join.Retry)
	if err != nil || id == "" {
		return imagegen.Result{}, false, imagegen.ToUserError(askLater(err))
	}
	r, err := e.waiting.Answer(ctx, c.session.caller(), id, c.show)
	err = c.stillUsable(ctx, askLater(err))
	switch {
	// it was refunded: the work is done anew
	case errors.Is(err, imagegen.ErrNotFound) || err == nil && r.State != imagegen.StateSucceeded:
		e.waiting.Forget(id)
		return imagegen.Result{}, false, nil
	case err != nil:
		e.waiting.HangUp(id)
		return imagegen.Result{}, false, imagegen.ToUserError(err)
	}
	result, err := answer(r)
	result.Replayed = true
	return result, true, err
}

// askLater turns the errors of a wait that was refused or took too long into ErrOverloaded.
func askLater(err error) error {
	if waitedInVain(err) {
		return imagegen.Overloaded(inUseRetry, err)
	}
	return err
}

// waitedInVain reports whether a wait for the answer of another call was refused or took too long.
func waitedInVain(err error) bool {
	return errors.Is(err, waiting.ErrTooMany) || errors.Is(err, waiting.ErrTooLong)
}

// ReportDelivery tells the engine whether the answer to a Generate with Join reached its caller
// completely. If it did not, an equal call may join. id is that of the Result. ReportDelivery does
// nothing for other generations, and for a call that was reported before.
func (s *Session) ReportDelivery(id imagegen.GenerationID, received bool) {
	if received {
		s.engine.waiting.Received(id)
	} else {
		s.engine.waiting.HangUp(id)
	}
}

// markDelivery writes to the store whether nobody has received an answer. A lost mark costs the caller a second
// charge, and never an image.
func (e *Engine) markDelivery(r imagegen.Record, d imagegen.DeliveryChange) {
	ctx, cancel := withoutCancel(context.Background())
	defer cancel()
	if _, err := e.update(ctx, r.Fence(), d); err != nil && !errors.Is(err, imagegen.ErrStale) &&
		!errors.Is(err, imagegen.ErrTransition) {
		e.cfg.Log.Warn("whether an answer was received could not be recorded", "generation", r.ID, "error", err)
	}
}
