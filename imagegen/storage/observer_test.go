package storage_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// commits is an observer that counts, and then panics.
type commits struct {
	mu         sync.Mutex
	operations int
	errs       []error
}

func (c *commits) Begin(ctx context.Context, _ imagegen.Event) context.Context { return ctx }

func (c *commits) Observe(_ context.Context, e imagegen.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Kind == imagegen.EventCommitted && e.Duration > 0 {
		c.operations += e.Count
		c.errs = append(c.errs, e.Err)
	}
	panic("metrics are down")
}

// count is how many operations there were since, in how many commits, and the error of the last.
func (c *commits) count() (operations, commits int, last error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	operations, commits = c.operations, len(c.errs)
	if commits > 0 {
		last = c.errs[commits-1]
	}
	c.operations, c.errs = 0, nil
	return operations, commits, last
}

// An observer observes each commit, also those that fail; its panics have no effect.
func TestObserverOfCommits(t *testing.T) {
	is := is.New(t)
	c := new(commits)
	db := openDir(t, t.TempDir(), &storage.Options{Observer: c})
	c.count() // those of opening
	is.NoErr(db.KV().Update(t.Context(), put("a", "1")))
	is.NoErr(db.KV().Update(t.Context(), put("b", "1")))
	n, all, err := c.count()
	is.Equal(n, 2)
	is.Equal(all, 2)
	is.NoErr(err)
	is.NoErr(db.KV().Update(t.Context(), func(kv.Tx) error { return nil }))
	_, all, _ = c.count()
	is.Equal(all, 0) // nothing was put

	faulty := openDir(t, t.TempDir(), &storage.Options{Observer: c})
	faulty.SetCommit(func(func() error) error { return errors.New("input/output error") })
	c.count()
	is.True(errors.Is(faulty.KV().Update(t.Context(), put("a", "1")), storage.ErrOutcomeUnknown))
	_, all, err = c.count()
	is.Equal(all, 1)
	is.True(err != nil)
}

// quiet is an observer that does not panic.
type quiet struct{ operations atomic.Int64 }

func (q *quiet) Begin(ctx context.Context, _ imagegen.Event) context.Context { return ctx }

func (q *quiet) Observe(_ context.Context, e imagegen.Event) { q.operations.Add(int64(e.Count)) }

func TestQuietObserverOfCommits(t *testing.T) {
	is := is.New(t)
	q := new(quiet)
	db := openDir(t, t.TempDir(), &storage.Options{Observer: q})
	before := q.operations.Load()
	is.NoErr(db.KV().Update(t.Context(), put("a", "1")))
	is.Equal(q.operations.Load(), before+1)
}
