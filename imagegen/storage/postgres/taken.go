package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// An account may be locked for long, by a transaction of a host program or by hand. A batch waits for it for
// shortWait. Then the calls that need it leave the batch, and each waits alone, on a connection of its own. As long as
// any waits, others that need the account wait alone from the first, and batches pass it over.

const (
	// shortWait is how long a batch waits for a lock at first: longer than transactions of our own hold theirs, unless
	// the database stalls. If it is not an account that is locked, the batch waits twice as long the next time.
	shortWait = 200 * time.Millisecond
	// longestWait is how long a batch waits for a lock at most.
	longestWait = longestStatement / 2
	// aloneFor is how long a call that waits alone waits for a lock before it looks whether its caller still waits.
	aloneFor = time.Second
	// placeFor is how long a call waits, without a connection, for one of those that wait to be served.
	placeFor = 5 * time.Second
	// mostAlone is how many calls wait alone for one account.
	mostAlone = 4
)

// taken has the accounts that calls wait alone for. It is safe for concurrent use.
type taken struct {
	connections chan struct{} // holds a value for each call that waits
	mu          sync.Mutex    // guards what follows
	accounts    map[imagegen.UserID]*takenAccount
}

type takenAccount struct {
	user   imagegen.UserID
	calls  int           // that have joined
	places chan struct{} // holds a value for each call that waits
	free   chan struct{} // closed when one has locked the account: the others need not wait alone any more
}

// newTaken lets a quarter of the connections wait.
func newTaken(connections int32) *taken {
	return &taken{connections: make(chan struct{}, max(connections/4, 1)),
		accounts: make(map[imagegen.UserID]*takenAccount)}
}

// all returns the accounts, as one value for a query.
func (t *taken) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := []string{}
	for u := range t.accounts {
		all = append(all, string(u))
	}
	return all
}

// join has a call wait for an account until leave. Of an account that is not taken it depends on begin what happens: it
// is from now on, or nil is returned.
func (t *taken) join(u imagegen.UserID, begin bool) *takenAccount {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.accounts[u]
	if a == nil && begin {
		a = &takenAccount{user: u, places: make(chan struct{}, mostAlone), free: make(chan struct{})}
		t.accounts[u] = a
	}
	if a != nil {
		a.calls++
	}
	return a
}

// leave ends join. The account is no longer taken if nobody waits any more, or if the call has locked it.
func (t *taken) leave(a *takenAccount, locked bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a.calls--; (a.calls == 0 || locked) && t.accounts[a.user] == a {
		delete(t.accounts, a.user)
		close(a.free)
	}
}

// takenError is the error of a transaction that was rolled back, since accounts were locked by others. It has the calls
// that need them, each with one of them.
type takenError struct{ by map[*call]imagegen.UserID }

func (takenError) Error() string { return "postgres: accounts are locked by others" }

// needing returns the calls of a batch that need any account that is in both lists. Whose the charges are was read.
func (s *session) needing(batch []*call, users, too []string) takenError {
	e := takenError{make(map[*call]imagegen.UserID)}
	for _, call := range batch {
		needs := slices.Clone(call.need.users)
		for _, id := range call.need.charges {
			if c := s.charges[id]; c != nil && c.known {
				needs = append(needs, c.User)
			}
		}
		for _, u := range needs {
			if slices.Contains(users, string(u)) && slices.Contains(too, string(u)) {
				e.by[call] = u
			}
		}
	}
	return e
}

// whoIsTaken returns a takenError if why, which says that a lock was not to be had, was about accounts; else why. Those
// that are locked for a moment only, by another batch, count too: their calls do not wait long.
func (s *session) whoIsTaken(batch []*call, all need, why error) error {
	var taken []string
	err := spared(func() error {
		s.query(s.scanCharges, readCharges, unique(all.charges))
		for _, c := range s.charges {
			if c.known {
				all.users = append(all.users, c.User)
			}
		}
		taken = identifiers[string](s, `with free as (select usr from imagegend.accounts where usr = any($1) order by usr for update skip locked)
 select usr from imagegend.accounts where usr = any($1) and usr not in (select usr from free)`, unique(all.users))
		return nil
	})
	if e := s.needing(batch, taken, taken); err == nil && len(e.by) > 0 {
		return e
	}
	return why
}

// without takes the calls out of a batch that need an account which is taken, and has each of them wait alone.
func (c *committer) without(batch []*call, e takenError) (rest []*call) {
	for _, call := range batch {
		if u, needs := e.by[call]; needs {
			account := c.db.taken.join(u, true)
			go c.waitAlone(call, account)
		} else {
			rest = append(rest, call)
		}
	}
	return rest
}

// waitAlone serves a call as soon as it can lock an account that it has joined. imagegen.ErrAccountLocked: as many
// calls as may wait already, the caller's context has ended, or longestTransaction is over.
func (c *committer) waitAlone(waits *call, a *takenAccount) {
	locked := false
	defer func() { c.db.taken.leave(a, locked) }()
	within, cancel := context.WithTimeout(waits.ctx, placeFor)
	defer cancel()
	for _, place := range []chan struct{}{a.places, c.db.taken.connections} {
		select {
		case place <- struct{}{}:
			defer func() { <-place }()
		case <-a.free:
			c.hand(waits)
			return
		case <-within.Done():
			waits.giveUp()
			return
		}
	}
	for alone, end := []*call{waits}, time.Now().Add(longestTransaction); ; {
		s, err := c.run(alone, aloneFor, nil)
		if _, is := errors.AsType[takenError](err); !is {
			locked = true
			c.answer(alone, s, err)
			return
		}
		if waits.ctx.Err() != nil || time.Now().After(end) {
			waits.giveUp()
			return
		}
	}
}

// giveUp answers a call that has changed nothing.
func (c *call) giveUp() {
	c.err = imagegen.ErrAccountLocked
	if c.ctx.Err() != nil {
		c.err = fmt.Errorf("%w: %w", c.err, context.Cause(c.ctx))
	}
	close(c.done)
}
