package limiter

import (
	"context"
	"sync"
)

// Turns lets one attempt at a time proceed for each address and for each name: however many somebody sends at once,
// their passwords are hashed on one processor. It is safe for concurrent use.
type Turns struct {
	mu   sync.Mutex
	held map[Attempt]chan struct{} // of turns that are taken; closed and removed when they end
}

// NewTurns returns Turns none of which is taken.
func NewTurns() *Turns { return &Turns{held: map[Attempt]chan struct{}{}} }

// Take waits for the turn of the attempt's address, then for that of its name. The caller must call done, once, to end
// both. Take fails only with the error of ctx, and then holds no turn. Those who wait for one turn get it in any order.
func (t *Turns) Take(ctx context.Context, a Attempt) (done func(), err error) {
	a = a.counted()
	keys := []Attempt{{Name: a.Name}}
	if a.Address.IsValid() { // otherwise it is unknown
		// Always in this order, so that no two wait for each other.
		keys = []Attempt{{Address: a.Address}, {Name: a.Name}}
	}
	for i, key := range keys {
		if err := t.waitFor(ctx, key); err != nil {
			t.release(keys[:i])
			return nil, err
		}
	}
	return func() { t.release(keys) }, nil
}

// waitFor waits until it has the turn, or ctx ends.
func (t *Turns) waitFor(ctx context.Context, key Attempt) error {
	for {
		ended := t.tryTake(key)
		if ended == nil {
			return nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tryTake takes a turn and returns nil or, if somebody has it, a channel that is closed when it ends.
func (t *Turns) tryTake(key Attempt) (ended <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if held, ok := t.held[key]; ok {
		return held
	}
	t.held[key] = make(chan struct{})
	return nil
}

func (t *Turns) release(keys []Attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		close(t.held[key])
		delete(t.held, key)
	}
}
