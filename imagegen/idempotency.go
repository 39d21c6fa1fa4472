package imagegen

import (
	"context"
	"errors"
	"sync"
	"time"
)

// inUseRetry is when to ask again for a call that is still running.
const inUseRetry = 2 * time.Second

// reserved answers from the record that holds the idempotency key, if one does: without a commit
// and without a slot.
func (c *call) reserved(ctx context.Context) (Result, bool, error) {
	former, err := c.engine.formerCall(ctx, c.record)
	if errors.Is(err, ErrNotFound) {
		return Result{}, false, nil
	}
	if err != nil {
		return Result{}, false, public(err)
	}
	result, err := c.replay(former)
	return result, true, err
}

// refuse answers a request that cannot be had. One that could be had when it came first is answered as
// it was then: what is offered may have changed meanwhile, and what was charged must be found.
func (s *Session) refuse(ctx context.Context, r Record, references []Reference, refusal error) (Result, error) {
	e := s.engine
	former, err := e.formerCall(ctx, r)
	if err != nil || len(references) != len(former.References) {
		discard(references)
		if err == nil || errors.Is(err, ErrNotFound) {
			err = refusal
		}
		return Result{}, public(err)
	}
	if r.References, err = e.take(ctx, references); err != nil {
		return Result{}, err
	}
	defer e.removeReferences(r.References)
	if former.Fingerprint != r.fingerprint() {
		return Result{}, refusal
	}
	if err := s.usable(ctx); err != nil {
		return Result{}, err
	}
	return replay(former)
}

// formerCall finds the record that reserves the idempotency key of a request. ErrNotFound.
func (e *Engine) formerCall(ctx context.Context, r Record) (Record, error) {
	if r.IdempotencyKey == "" {
		return Record{}, ErrNotFound
	}
	former, err := e.store.Reserved(ctx, r.User, r.IdempotencyKey)
	if err == nil && !former.Reserves(e.now()) {
		err = ErrNotFound
	}
	return former, err
}

// replay gives the answer of the call that holds the idempotency key, if that was for the same.
func (c *call) replay(former Record) (Result, error) {
	if former.Fingerprint != c.record.Fingerprint {
		return Result{}, ErrIdempotencyKeyReused
	}
	return replay(former)
}

// replay gives the answer that the first call was given, or would have been.
func replay(former Record) (Result, error) {
	switch {
	case former.State == StateCharging:
		return Result{}, inUse("")
	case !former.Visible(): // erased
		return Result{}, ErrNotFound
	case former.Async:
		return Result{Generation: former.accepted().Generation(), Replayed: true, BaseURL: former.BaseURL}, nil
	case !former.Terminal():
		return Result{}, inUse(former.ID)
	}
	result, err := answer(former)
	if failure, ok := errors.AsType[*Error](err); ok {
		failure.Replayed = true
	}
	result.Replayed = true
	return result, err
}

func inUse(id GenerationID) error {
	e := *ErrIdempotencyKeyInUse
	e.Generation, e.RetryAfter = id, inUseRetry
	return &e
}

// callsInFlight knows the synchronous calls with an idempotency key that no record reserves yet,
// so that a second one need not wait for a slot to be told.
type callsInFlight struct {
	mu     sync.Mutex
	prints map[userKey][32]byte
}

type userKey struct {
	user UserID
	key  string
}

func newCallsInFlight() *callsInFlight { return &callsInFlight{prints: make(map[userKey][32]byte)} }

// begin notes a call until release. ErrIdempotencyKeyReused or ErrIdempotencyKeyInUse if there is
// one with the key.
func (c *callsInFlight) begin(r Record) (release func(), err error) {
	k := userKey{r.User, r.IdempotencyKey}
	c.mu.Lock()
	defer c.mu.Unlock()
	if print, ok := c.prints[k]; ok {
		if print != r.Fingerprint {
			return nil, ErrIdempotencyKeyReused
		}
		return nil, inUse("")
	}
	c.prints[k] = r.Fingerprint
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.prints, k)
	}, nil
}
