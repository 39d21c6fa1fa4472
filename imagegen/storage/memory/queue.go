package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// queue says whose turn it is. Which records wait follows from store.open. A claim looks at all of them, unlike that of
// package tables, which keeps rings: this is the contract written down directly.
type queue struct {
	turns map[imagegen.UserID]int // of users with work that is due, from 1; the lowest comes first
	last  int                     // the last turn that was given

	mu   sync.Mutex    // guards wake, which Wake reads outside of any transaction
	wake chan struct{} // closed, and replaced, when a record is queued
}

func newQueue() queue {
	return queue{turns: make(map[imagegen.UserID]int), wake: make(chan struct{})}
}

// waits reports whether a generation waits for nothing but its turn.
func (g *generation) waits() bool { return g.State == imagegen.StateQueued && g.due.IsZero() }

// moved follows a change of a generation, which waited for its turn before or not: its user joins the queue, goes to
// its end, or leaves it.
func (q *queue) moved(open map[imagegen.GenerationID]*generation, waited bool, g *generation) {
	if g.State == imagegen.StateQueued {
		q.mu.Lock()
		close(q.wake)
		q.wake = make(chan struct{})
		q.mu.Unlock()
	}
	switch {
	case g.waits() && q.turns[g.Account()] == 0:
		q.moveToBack(g.Account())
	case waited && !g.waits():
		q.served(open, g.Account())
	}
}

// moveToBack gives a user the turn after everybody else's.
func (q *queue) moveToBack(u imagegen.UserID) {
	q.last++
	q.turns[u] = q.last
}

// served sends a user to the end of the queue, or out of it if nothing of theirs waits.
func (q *queue) served(open map[imagegen.GenerationID]*generation, u imagegen.UserID) {
	delete(q.turns, u)
	for _, g := range open {
		if g.Account() == u && g.waits() {
			q.moveToBack(u)
			return
		}
	}
}

// Claim implements [imagegen.Store].
func (s *store) Claim(ctx context.Context, d imagegen.ClaimRequest) (claimed []imagegen.Record, next time.Duration,
	err error) {
	held, places := maps.Clone(d.Held), maps.Clone(d.Places)
	if held == nil {
		held = make(map[imagegen.UserID]int)
	}
	return s.claim(ctx, d.Most, d.Lease, func(clock.Reading) *generation {
		g := s.first(held, places, d.Below)
		if g != nil {
			held[g.Account()]++
			if places != nil {
				places[g.Model]--
			}
		}
		return g
	})
}

// ClaimAged implements [imagegen.Store].
func (s *store) ClaimAged(ctx context.Context, age time.Duration, n int,
	lease time.Duration) ([]imagegen.Record, error) {
	claimed, _, err := s.claim(ctx, n, lease, func(at clock.Reading) *generation { return s.oldest(age, at) })
	return claimed, err
}

// claim begins attempts at up to n generations, each of which choose returns, until that returns nil. All of it is one
// transaction, so no two calls get the same record. next is as for Claim.
func (s *store) claim(ctx context.Context, n int, lease time.Duration, choose func(clock.Reading) *generation) (
	claimed []imagegen.Record, next time.Duration, err error) {
	at := s.books.Read()
	err = s.rows.Update(ctx, func(tx ledger.Tx) (err error) {
		next = s.admit(at)
		claimed, err = s.beginAttempts(tx, imagegen.ClaimChange{}, at, lease, func(begun int) *generation {
			if begun >= n {
				return nil
			}
			return choose(at)
		})
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return claimed, next, nil
}

// admit lets delayed work that is due wait for its turn, and returns the time until the next is due; 0: there is none.
func (s *store) admit(at clock.Reading) (next time.Duration) {
	var delayed []*generation
	for _, g := range s.open {
		if g.State == imagegen.StateQueued && !g.due.IsZero() {
			delayed = append(delayed, g)
		}
	}
	slices.SortFunc(delayed, func(a, b *generation) int {
		return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.ID, b.ID))
	})
	for _, g := range delayed {
		if g.due.After(at.Steady) {
			return g.due.Sub(at.Steady)
		}
		if g.due = (time.Time{}); s.queue.turns[g.Account()] == 0 {
			s.queue.moveToBack(g.Account())
		}
	}
	return 0
}

// first is the generation to claim next; nil if there is none. It is that of the user who holds the fewest slots, among
// equals of the user whose turn is first; of theirs, begun work comes first, then the lower identifier. below and
// places limit the claim, see imagegen.ClaimRequest; nil places and 0 below mean no limit.
func (s *store) first(held map[imagegen.UserID]int, places map[string]int, below int) (first *generation) {
	before := func(a, b *generation) bool {
		return cmp.Or(cmp.Compare(held[a.Account()], held[b.Account()]), cmp.Compare(s.queue.turns[a.Account()],
			s.queue.turns[b.Account()]),
			-cmp.Compare(min(a.Attempt, 1), min(b.Attempt, 1)), cmp.Compare(a.ID, b.ID)) < 0
	}
	for _, g := range s.open {
		if g.waits() && (places == nil || places[g.Model] > 0) && (below == 0 || held[g.Account()] < below) &&
			(first == nil || before(g, first)) {
			first = g
		}
	}
	return first
}

// oldest is the oldest generation that waits for its turn and was created at least age ago; nil if there is none.
func (s *store) oldest(age time.Duration, at clock.Reading) (oldest *generation) {
	for _, g := range s.open {
		if g.waits() && at.Age(g.CreatedAt) >= age && (oldest == nil || g.ID < oldest.ID) {
			oldest = g
		}
	}
	return oldest
}

// beginAttempts begins attempts at generations, each of which choose returns, until that returns nil, and leases them.
// It returns clones of the records. After an error those that have begun stay, and must reach the caller; the next call
// meets the error again.
func (s *store) beginAttempts(tx ledger.Tx, c imagegen.Change, at clock.Reading, lease time.Duration,
	choose func(begun int) *generation) (begun []imagegen.Record, err error) {
	for g := choose(0); g != nil; g = choose(len(begun)) {
		to, _, err := g.Apply(g.Attempt, c)
		if err == nil {
			to, err = s.change(tx, g, to, at, at.Steady.Add(lease))
		}
		if err != nil && len(begun) == 0 {
			return nil, err
		}
		if err != nil {
			break
		}
		begun = append(begun, rules.Clone(to))
	}
	return begun, nil
}

// Recover implements [imagegen.Store]. It finds records of this process only, since nothing survives a process.
func (s *store) Recover(ctx context.Context, n int, lease time.Duration) (recovered []imagegen.Record, err error) {
	at := s.books.Read()
	err = s.rows.Update(ctx, func(tx ledger.Tx) (err error) {
		var abandoned []*generation
		for _, g := range s.open {
			if g.Running() && !at.Steady.Before(g.until) {
				abandoned = append(abandoned, g)
			}
		}
		slices.SortFunc(abandoned, func(a, b *generation) int {
			return cmp.Or(a.until.Compare(b.until), cmp.Compare(a.ID, b.ID))
		})
		recovered, err = s.beginAttempts(tx, imagegen.RecoverChange{}, at, lease, func(begun int) *generation {
			if begun >= min(n, len(abandoned)) {
				return nil
			}
			return abandoned[begun]
		})
		return err
	})
	return recovered, err
}

// grace is the lease of a record that begins to run by an Update, which has no lease to give.
const grace = 30 * time.Second

// lease gives a generation the lease that a change brings; until is as in put.
func (g *generation) lease(former, to imagegen.Record, now, until time.Time) {
	switch {
	case !until.IsZero():
		g.until = until
	case !former.Running() || former.Attempt != to.Attempt:
		g.until = now.Add(grace)
	}
}

// Extend implements [imagegen.Store].
func (s *store) Extend(ctx context.Context, lease time.Duration, fences ...imagegen.Fence) (lost []imagegen.Fence,
	err error) {
	at := s.books.Read()
	err = s.rows.Update(ctx, func(ledger.Tx) error {
		for _, f := range fences {
			if g := s.generations[f.ID]; g != nil && g.Running() && g.Attempt == f.Attempt {
				g.until = at.Steady.Add(lease)
			} else {
				lost = append(lost, f)
			}
		}
		return nil
	})
	return lost, err
}

// Queued implements [imagegen.Store].
func (s *store) Queued(_ context.Context, u imagegen.UserID) (imagegen.QueueLength, error) {
	return read(context.Background(), s, func() (n imagegen.QueueLength, err error) {
		for _, g := range s.open {
			if g.State == imagegen.StateQueued {
				n.All++
				if g.Account() == u {
					n.Own++
				}
			}
		}
		return n, nil
	})
}

// Wake implements [imagegen.Store].
func (s *store) Wake() <-chan struct{} {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return s.queue.wake
}
