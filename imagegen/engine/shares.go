package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/schedule"
)

// shares bound what one user can take of the queue and the slots once there are several
// users. A user who is alone can have everything.
type shares struct {
	mu      sync.Mutex      // guards all that follows
	first   imagegen.UserID // who came first
	several bool            // nobody is alone any more; for good

	joining map[imagegen.UserID]int // on their way into the queue
	all     int
}

// noteUser notes that a user is active. With the first one, the users in the store are
// looked at too.
func (e *Engine) noteUser(ctx context.Context, u imagegen.UserID) {
	if !e.cfg.Limits.FairShares {
		return
	}
	switch e.shares.noteUser(u) {
	case 1:
		e.noteStoredUsers(ctx)
	case 2:
		e.slots.Keep(schedule.Kept(e.cfg.Limits.Concurrency))
	}
}

// noteUser returns 1 for the first user, 2 for the second, and 0 for a user who changes
// nothing.
func (s *shares) noteUser(u imagegen.UserID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.first == "":
		s.first = u
		return 1
	case s.several || s.first == u:
		return 0
	}
	s.several = true
	return 2
}

// noteStoredUsers notes the first two users in the store: more are not needed to know
// that there are several.
func (e *Engine) noteStoredUsers(ctx context.Context) {
	if !e.cfg.Limits.FairShares || e.shares.hasSeveral() {
		return
	}
	p, err := e.accounts.UserPage(ctx, imagegen.UserQuery{Limit: 2})
	e.warn(ctx, err, "users could not be listed")
	for _, u := range p.Users {
		e.noteUser(ctx, u.ID)
	}
}

// hasSeveral reports whether there is more than one user.
func (s *shares) hasSeveral() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.several
}

// joinQueue takes a place in the queue until the record itself is counted there. Without
// it, calls that arrive together would each see the queue as it was before any of them.
// ErrOverloaded: there is no place, or the user has more than their share.
func (e *Engine) joinQueue(ctx context.Context, u imagegen.UserID) (leave func(), err error) {
	joining := e.shares.join(u)
	leave = func() { e.shares.leave(u) }
	queued, err := e.store.Queued(ctx, u)
	if err == nil {
		err = e.refuseQueue(ctx, u, imagegen.QueueLength{All: queued.All + joining.All, Own: queued.Own + joining.Own})
	}
	if err != nil {
		leave()
		return nil, imagegen.ToUserError(err)
	}
	return leave, nil
}

// refuseQueue returns why the queue is too long, with what is about to join it; nil if it
// is not.
func (e *Engine) refuseQueue(ctx context.Context, u imagegen.UserID, l imagegen.QueueLength) error {
	const retry = 10 * time.Second
	if l.All > e.cfg.Limits.MaxQueued {
		return imagegen.Overloaded(retry, fmt.Errorf("imagegen: %d generations are queued", l.All-1))
	}
	share := max(1, e.cfg.Limits.MaxQueued/2)
	if l.Own <= share {
		return nil
	}
	if e.noteStoredUsers(ctx); !e.cfg.Limits.FairShares || !e.shares.hasSeveral() {
		return nil
	}
	return &imagegen.Error{Code: imagegen.CodeOverloaded, RetryAfter: retry,
		Err:     fmt.Errorf("imagegen: user %s has %d generations queued", u, l.Own-1),
		Message: fmt.Sprintf("%d of your generations are queued, and one user can have no more; try again when some have ended", l.Own-1)}
}

func (s *shares) join(u imagegen.UserID) imagegen.QueueLength {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all++
	s.joining[u]++
	return imagegen.QueueLength{All: s.all, Own: s.joining[u]}
}

func (s *shares) leave(u imagegen.UserID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.joining[u]--; s.joining[u] == 0 {
		delete(s.joining, u)
	}
}
