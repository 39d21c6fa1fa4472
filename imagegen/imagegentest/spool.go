package imagegentest

import (
	"context"
	"io"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// CountedSpool is a spool that knows how many files lie in it. Its method Watch is an option of Start.
type CountedSpool struct {
	imagegen.Spool

	mu     sync.Mutex
	held   map[imagegen.ReferenceID]bool
	staged int
}

// Watch puts it before the storage's own spool.
func (s *CountedSpool) Watch(c *engine.Config) {
	s.Spool, s.held = c.Store.(imagegen.Spool), map[imagegen.ReferenceID]bool{}
	c.Spool = s
}

// Held is how many files lie there.
func (s *CountedSpool) Held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

// Staged is how many files have come, whether they lie there still or not.
func (s *CountedSpool) Staged() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.staged
}

func (s *CountedSpool) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	err := s.Spool.Stage(ctx, id, r)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held[id] = true
		s.staged++
	}
	return err
}

func (s *CountedSpool) Remove(ctx context.Context, ids ...imagegen.ReferenceID) error {
	s.mu.Lock()
	for _, id := range ids {
		delete(s.held, id)
	}
	s.mu.Unlock()
	return s.Spool.Remove(ctx, ids...)
}

// TakeSpace implements [imagegen.SpaceTaker], also over a spool that does not.
func (s *CountedSpool) TakeSpace(n int64) error {
	if t, ok := s.Spool.(imagegen.SpaceTaker); ok {
		return t.TakeSpace(n)
	}
	return nil
}
