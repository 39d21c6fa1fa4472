package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/waiting"
)

// inUseRetry is the Retry-After for a call that is still running.
const inUseRetry = 2 * time.Second

// repetition answers a call whose idempotency key belongs to another call. It waits for
// that call's answer, and needs neither a commit nor a slot. If found is false, the key
// belongs to this call until release.
//
// It looks for a record first, and then for a call on its way to one. If that call ends
// without a record, since it was refused, the next round makes this one the first. Calls on
// their way are known in this process only; between processes, and for asynchronous calls,
// Store.Create decides.
func (c *call) repetition(ctx context.Context) (result imagegen.Result, found bool, release func(), err error) {
	for {
		result, found, err = c.reserved(ctx)
		if found || err != nil {
			return result, found, func() {}, err
		}
		if c.record.Async {
			return result, false, func() {}, nil
		}
		release, running, err := c.engine.waiting.ClaimKey(c.record)
		if err != nil || running == nil {
			return result, false, release, err
		}
		err = c.engine.waiting.AwaitCall(ctx, c.session.caller(), running)
		if waitedInVain(err) {
			err = inUse("")
		}
		if err != nil {
			return result, false, release, err
		}
	}
}

// reserved answers from the record that holds the idempotency key, if there is one.
func (c *call) reserved(ctx context.Context) (imagegen.Result, bool, error) {
	former, err := c.engine.earlierCall(ctx, c.record)
	if err != nil && !imagegen.Definite(err) && ctx.Err() == nil { // it may have been charged
		return imagegen.Result{}, false, unknownOutcome("", err)
	}
	if err == nil && former.Fingerprint == c.record.Fingerprint && !waiting.Answerable(former) {
		former, err = c.awaitEarlier(ctx, former)
	}
	if errors.Is(err, imagegen.ErrNotFound) {
		return imagegen.Result{}, false, nil
	}
	if err := c.stillUsable(ctx, err); err != nil {
		return imagegen.Result{}, false, imagegen.ToUserError(err)
	}
	result, err := c.replay(former)
	return result, true, err
}

// awaitEarlier waits for the answer of the call that holds the idempotency key. It
// returns that record unchanged, which means ErrIdempotencyKeyInUse, if too many calls
// wait or the answer does not come in time. ErrNotFound: that call was not accepted after
// all.
func (c *call) awaitEarlier(ctx context.Context, former imagegen.Record) (imagegen.Record, error) {
	r, err := c.engine.waiting.Answer(ctx, c.session.caller(), former.ID, c.show)
	if waitedInVain(err) {
		return former, nil // which is in use
	}
	return r, err
}

// stillUsable returns err; if that is nil, why the key of a call can no longer be used
// now that its answer is there.
func (c *call) stillUsable(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	return c.session.usable(ctx)
}

// refuse answers a request that is not possible. If it repeats an earlier request that
// was possible then, it gets that one's answer: the models may have changed meanwhile,
// and a caller must be able to find what was charged.
func (s *Session) refuse(ctx context.Context, user imagegen.User, r imagegen.Record, q imagegen.GenerateRequest,
	refusal error) (imagegen.Result, error) {
	if q.IdempotencyKey == "" && q.Join == nil {
		discard(q)
		return imagegen.Result{}, imagegen.ToUserError(refusal)
	}
	c, err := s.call(ctx, user, r, catalogEntry{}, q)
	if err != nil {
		return imagegen.Result{}, imagegen.ToUserError(refusal)
	}
	defer c.discard()
	result, found, release, err := c.earlierAnswer(ctx)
	release()
	if !found && err == nil || errors.Is(err, imagegen.ErrIdempotencyKeyReused) ||
		errors.Is(err, imagegen.ErrNotFound) { // erased: for what it was nobody knows
		err = imagegen.ToUserError(refusal)
	}
	return result, err
}

// earlierCall returns the record that reserves the idempotency key of a request.
// ErrNotFound.
func (e *Engine) earlierCall(ctx context.Context, r imagegen.Record) (imagegen.Record, error) {
	former, err := e.store.GenerationByIdempotencyKey(ctx, r.User, r.IdempotencyKey)
	if err == nil && !former.HoldsIdempotencyKey(e.Age(former.CompletedAt)) {
		err = imagegen.ErrNotFound
	}
	return former, err
}

// replay returns the answer that the call which holds the idempotency key was given, or would have been given.
// ErrIdempotencyKeyReused: that was another request.
func (c *call) replay(former imagegen.Record) (imagegen.Result, error) {
	// which knows not for what it was
	erased := former.State == imagegen.StateErasing || former.State == imagegen.StateErased
	switch {
	case !erased && former.Fingerprint != c.record.Fingerprint:
		return imagegen.Result{}, imagegen.ErrIdempotencyKeyReused
	case former.State == imagegen.StateCharging:
		return imagegen.Result{}, inUse("")
	case !former.Visible(): // erased
		return imagegen.Result{}, imagegen.ErrNotFound
	case former.Async:
		return imagegen.Result{Generation: accepted(former).Generation(), Replayed: true}, nil
	case !former.Terminal():
		return imagegen.Result{}, inUse(former.ID)
	}
	result, err := answer(former)
	if failure, ok := errors.AsType[*imagegen.Error](err); ok {
		failure.Replayed = true
	}
	result.Replayed = true
	return result, err
}

// inUse is ErrIdempotencyKeyInUse with the time after which to ask again and, if it was
// accepted, the generation.
func inUse(id imagegen.GenerationID) error {
	e := *imagegen.ErrIdempotencyKeyInUse
	e.Generation, e.RetryAfter = id, inUseRetry
	return &e
}

// fingerprint identifies what was asked for. It is equal for requests with the same
// fields after defaults and the same reference bytes in the same order. Records keep it, so
// its input must not change: a request repeated after an upgrade would count as another one.
func fingerprint(r imagegen.Record) [32]byte {
	h := sha256.New()
	field := func(b []byte) {
		h.Write(binary.AppendUvarint(nil, uint64(len(b)))) // lengths keep neighbours apart
		h.Write(b)
	}
	async := []byte{0}
	if r.Async {
		async[0] = 1
	}
	field([]byte(r.Model))
	field([]byte(r.Prompt))
	field(binary.AppendUvarint(nil, uint64(r.N)))
	field([]byte(r.Size.String()))
	field([]byte(r.Quality))
	field(async)
	field([]byte(r.Options.Format))
	field([]byte(r.Options.Background))
	field(numeral(r.Options.Compression))
	field(numeral(r.Options.Seed))
	for _, f := range r.References {
		field(f.SHA256[:])
	}
	if _, masked := r.Mask(); masked {
		field([]byte("the last one is a mask"))
	}
	return [32]byte(h.Sum(nil))
}

// numeral encodes a number; nothing for nil.
func numeral[N int | int64](n *N) []byte {
	if n == nil {
		return nil
	}
	return binary.AppendVarint(nil, int64(*n))
}

// accepted is the record as it was when an asynchronous call was answered.
func accepted(r imagegen.Record) imagegen.Record {
	r.Progress = imagegen.Progress{State: imagegen.StateQueued}
	return r
}
