package openai_test

import (
	"context"
	"io"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// countedSpool knows what is in it.
type countedSpool struct {
	imagegen.Spool
	mu   sync.Mutex
	held map[imagegen.ReferenceID]bool
}

func (c *countedSpool) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	err := c.Spool.Stage(ctx, id, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.held[id] = true
	}
	return err
}

func (c *countedSpool) Remove(ctx context.Context, ids ...imagegen.ReferenceID) error {
	c.mu.Lock()
	for _, id := range ids {
		delete(c.held, id)
	}
	c.mu.Unlock()
	return c.Spool.Remove(ctx, ids...)
}

func (c *countedSpool) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.held)
}
