package engine_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// slowLists is a store whose lists take a second. It notes the most rows that were asked for at the same time.
type slowLists struct {
	imagegen.TxStore
	mu        sync.Mutex
	now, most int
}

func (s *slowLists) Generations(ctx context.Context, u imagegen.UserID,
	q imagegen.Query) ([]imagegen.Record, bool, error) {
	s.add(q.Limit)
	defer s.add(-q.Limit)
	time.Sleep(time.Second)
	return s.TxStore.Generations(ctx, u, q)
}

func (s *slowLists) add(rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now += rows
	s.most = max(s.most, s.now)
}

// Lists are read within bounds of memory, and the crowd of one user holds up neither
// another user's list nor anything else.
func TestListsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowLists{}
		h := start(t, slowly(time.Second), func(c *engine.Config) {
			c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
			store.TxStore = c.Store.(imagegen.TxStore)
			c.Store = store
		})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { h.engine.As(alice).Generations(ctx, imagegen.Query{Limit: 100}) })
			all.Go(func() { h.engine.As("carol").Generations(ctx, imagegen.Query{Limit: 7}) })
		}
		synctest.Wait()
		began := time.Now()
		_, err := h.engine.As(alice).Balance(t.Context())
		h.is.NoErr(err)
		h.is.Equal(time.Since(began), time.Duration(0))
		_, err = h.engine.As(bob).Generations(t.Context(), imagegen.Query{Limit: 100})
		h.is.NoErr(err)
		h.is.True(time.Since(began) <= 3*time.Second)
		cancel()
		all.Wait()
		h.is.True(time.Since(began) <= 5*time.Second) // who hung up does not wait for a turn
		h.is.True(store.most <= 200)
	})
}
