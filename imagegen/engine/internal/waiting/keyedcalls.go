package waiting

import (
	"context"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// keyedCalls are the synchronous calls with an idempotency key that are running in this process. A second call with the
// key waits for the first one and not for a slot.
type keyedCalls struct {
	mu    sync.Mutex // guards calls
	calls map[userKey]*keyedCall
}

type userKey struct {
	user imagegen.UserID
	key  string
}

type keyedCall struct {
	fingerprint [32]byte
	ended       chan struct{}
}

// ClaimKey gives the idempotency key of a call to it until release. If another call has the key, running is closed when
// that one ends. ErrIdempotencyKeyReused: it asks for something else.
func (r *Room) ClaimKey(of imagegen.Record) (release func(), running <-chan struct{}, err error) {
	k, c := userKey{of.User, of.IdempotencyKey}, r.keys
	c.mu.Lock()
	defer c.mu.Unlock()
	if other, ok := c.calls[k]; ok {
		if other.fingerprint != of.Fingerprint {
			return func() {}, nil, imagegen.ErrIdempotencyKeyReused
		}
		return func() {}, other.ended, nil
	}
	call := &keyedCall{of.Fingerprint, make(chan struct{})}
	c.calls[k] = call
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, k)
		close(call.ended)
	}, nil, nil
}

// AwaitCall waits for the end of the call that has the key of another one. ErrOverloaded: the engine began to drain.
func (r *Room) AwaitCall(ctx context.Context, c Caller, running <-chan struct{}) error {
	ctx, leave, err := r.whileWaiting(ctx, c)
	if err != nil {
		return err
	}
	defer leave()
	select {
	case <-running:
		return nil
	case <-ctx.Done():
		return whyEnded(ctx)
	}
}
