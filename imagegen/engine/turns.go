package engine

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/imagegend/imagegend/imagegen"
)

// How many rows of lists are read at the same time, for one user and for all. The longest prompt makes a row of
// 128 KiB.
const (
	rowsOfUser = imagegen.MaxPageSize
	rowsOfAll  = 2 * rowsOfUser
)

// How many reference images are turned upright at the same time, for one user and for all. What upstreams have made
// waits for at most so many.
const (
	turnedOfUser = 1
	turnedOfAll  = 2
)

// turns divides a resource of the process among calls. Calls that exceed it take turns: those of a user among each
// other, so that at most one share of each user waits for its turn among all. It is safe for concurrent use.
type turns struct {
	each int64 // a user's share
	all  *semaphore.Weighted

	mu    sync.Mutex // guards users, and calls of each share
	users map[imagegen.UserID]*userShare
}

// userShare exists only while the user has calls.
type userShare struct {
	*semaphore.Weighted
	calls int
}

func newTurns(each, all int64) *turns {
	return &turns{each: each, all: semaphore.NewWeighted(all), users: make(map[imagegen.UserID]*userShare)}
}

// take waits until a user has n, at most a share. The caller gives it back with end. An error is that of ctx.
func (t *turns) take(ctx context.Context, u imagegen.UserID, n int64) (end func(), err error) {
	own := t.enter(u)
	if err := own.Acquire(ctx, n); err != nil {
		t.leave(u)
		return nil, err
	}
	if err := t.all.Acquire(ctx, n); err != nil {
		own.Release(n)
		t.leave(u)
		return nil, err
	}
	return func() {
		t.all.Release(n)
		own.Release(n)
		t.leave(u)
	}, nil
}

func (t *turns) enter(u imagegen.UserID) *userShare {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.users[u]
	if own == nil {
		own = &userShare{Weighted: semaphore.NewWeighted(t.each)}
		t.users[u] = own
	}
	own.calls++
	return own
}

func (t *turns) leave(u imagegen.UserID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.users[u].calls--; t.users[u].calls == 0 {
		delete(t.users, u)
	}
}
