package waiting

import (
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// hangUpWait is how long a repeated call waits for the first caller to hang up, since a proxy may report that late.
const hangUpWait = 2 * time.Second

// Join takes the place of a caller who hung up on a call that equals that of a record, and returns its generation; ""
// if there is none. It looks in memory first, then for what the store has marked. If the call is a repetition, it also
// waits up to hangUpWait for the first caller to hang up. The caller who joins leaves by HangUp, Received or Forget.
func (r *Room) Join(ctx context.Context, c Caller, of imagegen.Record, repetition bool) (imagegen.GenerationID, error) {
	id, left := r.join(of.JoinKey)
	if id != "" {
		return id, nil
	}
	id, err := r.joinStored(ctx, of)
	if id != "" || err != nil || !repetition {
		return id, err
	}
	return r.joinLate(ctx, c, of.JoinKey, left)
}

// joinStored joins a call that has ended, possibly in an earlier process.
func (r *Room) joinStored(ctx context.Context, of imagegen.Record) (imagegen.GenerationID, error) {
	records, err := r.Store.Undelivered(ctx, of.User, of.JoinKey)
	if err != nil {
		return "", err
	}
	for _, former := range records {
		if r.Age(former.CompletedAt) < r.JoinWindow && r.addStored(former) {
			return former.ID, nil
		}
	}
	return "", nil
}

// joinLate waits up to hangUpWait for the first caller to hang up.
func (r *Room) joinLate(ctx context.Context, c Caller, key [32]byte, left <-chan struct{}) (id imagegen.GenerationID,
	err error) {
	ctx, leave, err := r.whileWaiting(ctx, c)
	if err != nil {
		return "", err
	}
	defer leave()
	late := time.NewTimer(hangUpWait)
	defer late.Stop()
	for id == "" {
		select {
		case <-left:
			id, left = r.join(key)
		case <-late.C:
			return r.joinOnly(key), nil
		case <-ctx.Done():
			return "", whyEnded(ctx)
		}
	}
	return id, nil
}

// HangUp notes that a caller has left without the answer.
func (r *Room) HangUp(id imagegen.GenerationID) {
	if of, mark := r.hangUp(id); mark {
		r.markUndelivered(of)
	}
}

// Received notes that a caller has received the answer: nobody can join the call any more.
func (r *Room) Received(id imagegen.GenerationID) {
	if of, unmark := r.received(id); unmark {
		r.Mark(of, imagegen.DeliveryChange{})
		r.Forget(id)
	}
}

// EndLeft looks for the end of calls whose callers have left and whose end nobody here has heard of: another engine on
// the store may have recovered them, or the answer of the store was lost. Without it an equal call could join them for
// ever.
func (r *Room) EndLeft(ctx context.Context) {
	for _, id := range r.left() {
		got, err := r.Store.Generation(ctx, id)
		switch {
		case errors.Is(err, imagegen.ErrNotFound):
			r.Forget(id)
		case err == nil && got.Terminal():
			r.endOpenCall(got)
		}
	}
}

// endOpenCall notes how a generation ended whose call may be joined.
func (r *Room) endOpenCall(ended imagegen.Record) {
	if mark := r.endCall(ended); mark {
		r.markUndelivered(ended)
	}
}

// markUndelivered records that nobody has received the answer. If an equal call received it meanwhile, the mark is
// removed again.
func (r *Room) markUndelivered(of imagegen.Record) {
	r.Mark(of, imagegen.DeliveryChange{Undelivered: true})
	if r.setMarked(of.ID) {
		r.Mark(of, imagegen.DeliveryChange{})
	}
}
