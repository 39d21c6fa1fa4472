package limiter

import (
	"context"
	"sync"
)

// Turns let one attempt at a time have its password hashed, for each address and for each name: however
// many are sent at once, they hold one processor. It is safe for concurrent use.
type Turns struct {
	mu   sync.Mutex
	held map[place]chan struct{} // closed when the turn ends
}

// NewTurns returns Turns of which none is taken.
func NewTurns() *Turns { return &Turns{held: map[place]chan struct{}{}} }

// Take waits for the turn of the attempt's address, then for that of its name. Done ends both. It fails
// with the context's error.
func (t *Turns) Take(ctx context.Context, a Attempt) (done func(), err error) {
	at := a.place()
	keys := []place{{name: at.name}}
	if at.address.IsValid() { // or it is nobody's
		keys = []place{{address: at.address}, {name: at.name}} // everybody takes them in this order
	}
	for i, key := range keys {
		if err := t.take(ctx, key); err != nil {
			t.end(keys[:i])
			return nil, err
		}
	}
	return func() { t.end(keys) }, nil
}

func (t *Turns) take(ctx context.Context, key place) error {
	for {
		ended := t.try(key)
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

// try takes a turn, or returns what is closed when it ends.
func (t *Turns) try(key place) (ended <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if held, ok := t.held[key]; ok {
		return held
	}
	t.held[key] = make(chan struct{})
	return nil
}

func (t *Turns) end(keys []place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		close(t.held[key])
		delete(t.held, key)
	}
}
