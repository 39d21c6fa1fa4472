package engine

import (
	"fmt"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// refusals bound how many of a user's generations a provider may refuse, by its policy or
// because the request is impossible. Each of them costs the user nothing, but is stored
// and calls the upstream. Time gives the refusals back one by one, and so does each
// success. An outage of an upstream does not count.
type refusals struct {
	most  float64    // counted in an hour; negative: there is no limit
	mu    sync.Mutex // guards users
	users map[imagegen.UserID]tally
}

// tally is how many refusals counted at a given time.
type tally struct {
	n  float64
	at time.Time
}

// maxTallies bounds the memory. Beyond it, the user with the fewest refusals is
// forgotten.
const maxTallies = 10_000

func newRefusals(most int) *refusals {
	return &refusals{most: float64(most), users: make(map[imagegen.UserID]tally)}
}

// checkUser returns ErrRateLimited if a user has had too many refusals.
func (r *refusals) checkUser(u imagegen.UserID, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	over := r.left(u, now) - (r.most - 1)
	if r.most < 0 || over <= 0 {
		return nil
	}
	wait := time.Duration(over / r.most * float64(time.Hour))
	return &imagegen.Error{Code: imagegen.CodeRateLimited, RetryAfter: wait,
		Message: fmt.Sprintf(
			"the provider refused too many of your requests; change what you ask for, and try again in %v",
			max(wait.Round(time.Second), time.Second))}
}

// noteOutcome counts the result of a generation.
func (r *refusals) noteOutcome(g imagegen.Record, now time.Time) {
	change := 0.0
	switch {
	case g.Published > 0:
		change = -1
	case g.Failure != nil && g.Failure.Class.RequestAtFault():
		change = 1
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(r.left(g.User, now)+change, 2*r.most) // nobody waits for much longer than an hour
	if n <= 0 {
		delete(r.users, g.User)
		return
	}
	if _, known := r.users[g.User]; !known && len(r.users) >= maxTallies {
		r.forgetOne(now)
	}
	r.users[g.User] = tally{n, now}
}

// left is how many of a user's refusals still count: they fade evenly, r.most of them
// an hour. r.mu is held.
func (r *refusals) left(u imagegen.UserID, now time.Time) float64 {
	t := r.users[u]
	return max(0, t.n-r.most*max(0, now.Sub(t.at).Hours()))
}

// forgetOne drops the user with the fewest refusals, whose count matters least. r.mu is held.
func (r *refusals) forgetOne(now time.Time) {
	var least imagegen.UserID
	fewest := 3 * r.most
	for u := range r.users {
		if n := r.left(u, now); n < fewest {
			least, fewest = u, n
		}
	}
	delete(r.users, least)
}
