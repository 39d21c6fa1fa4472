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
	former, err := c.engine.store.Reserved(ctx, c.record.User, c.record.IdempotencyKey)
	if errors.Is(err, ErrNotFound) || err == nil && !former.Reserves(c.record.CreatedAt) {
		return Result{}, false, nil
	}
	if err != nil {
		return Result{}, false, public(err)
	}
	result, err := c.replay(former)
	return result, true, err
}

// replay gives the answer that the first call was given, or would have been.
func (c *call) replay(former Record) (Result, error) {
	switch {
	case former.Fingerprint != c.record.Fingerprint:
		return Result{}, ErrIdempotencyKeyReused
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
