package system

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

const (
	// summaryAge is how old a summary may be. Making one reads every row of usage of its days, of all users.
	summaryAge = time.Minute
	// maxConsumers is how many users, and how many keys, a summary lists.
	maxConsumers = 10
)

// summary is what all users were charged, from one day until now. It is not changed once it is made, so it can be
// shared.
type summary struct {
	At      time.Time // when it was made
	From    time.Time // the first day
	Total   imagegen.UsageSums
	Days    []sums // those with charges, newest first
	byModel []sums // by name
	byUser  []sums // the maxConsumers that spent most, most first
	byKey   []sums // likewise; charges without a key are left out

	totals map[subject]imagegen.Totals // of each day, each model, each user, and of all; empty: the Store keeps none
}

// subject is what charges are grouped by: some of these fields, the others being zero.
type subject struct {
	Day   time.Time
	Model string
	User  imagegen.UserID
	Key   imagegen.KeyID
}

// sums are the sums over the charges of one subject.
type sums struct {
	subject
	imagegen.UsageSums
}

// tally adds up usage by subject.
type tally map[subject]imagegen.UsageSums

func (t tally) count(s subject, u imagegen.UsageSums) { t[s] = t[s].Plus(u) }

// summarize makes a summary of the given number of days, today included. It reads the rows of usage once; meanwhile
// it holds a total for every user and key that has any, unless the ledger goes user by user.
func summarize(ctx context.Context, ledger imagegen.CreditAdmin, e *engine.Engine, days int,
	now time.Time) (*summary, error) {
	to, err := ledger.Today(ctx, "")
	if err != nil {
		return nil, err
	}
	s := &summary{At: now, From: to.AddDate(0, 0, 1-days)}
	each := ledger.EachUsage
	walker, walks := ledger.(imagegen.UsageWalker)
	if walks {
		each = walker.EachUsersUsage
	}
	byDay, byModel, byUser, byKey := tally{}, tally{}, &consumers{walks: walks}, &consumers{walks: walks}
	err = each(ctx, s.From, to, func(u imagegen.UserID, row imagegen.Usage) {
		s.Total = s.Total.Plus(row.UsageSums)
		byDay.count(subject{Day: row.Day}, row.UsageSums)
		byModel.count(subject{Model: row.Model}, row.UsageSums)
		byUser.count(subject{User: u}, row.UsageSums)
		if row.Key != "" {
			byKey.count(subject{User: u, Key: row.Key}, row.UsageSums)
		}
	})
	if err != nil {
		return nil, err
	}
	s.Days = byDay.sorted(func(a, b sums) int { return b.Day.Compare(a.Day) })
	s.byModel = byModel.sorted(func(a, b sums) int { return cmp.Compare(a.Model, b.Model) })
	s.byUser, s.byKey = byUser.top(), byKey.top()
	s.totals = make(map[subject]imagegen.Totals)
	shown := make(map[imagegen.UserID]bool)
	for _, u := range s.byUser {
		shown[u.User] = true
	}
	err = e.EachTotals(ctx, s.From, to, func(r imagegen.TotalsRow) {
		of := []subject{{}, {Day: r.Day}, {Model: r.Model}}
		if shown[r.User] {
			of = append(of, subject{User: r.User})
		}
		for _, of := range of {
			s.totals[of] = s.totals[of].Plus(r.Totals)
		}
	})
	if errors.Is(err, imagegen.ErrNotFound) {
		err = nil
	}
	return s, err
}

// consumers find who spent most. The sums of a user whose rows have all come are held only if they may be among them.
type consumers struct {
	walks bool // the rows of each user come together
	user  imagegen.UserID
	sums  tally
	best  []sums
}

func (c *consumers) count(s subject, u imagegen.UsageSums) {
	if c.walks && s.User != c.user {
		c.best = c.top()
		c.sums, c.user = nil, s.User
	}
	if c.sums == nil {
		c.sums = tally{}
	}
	c.sums.count(s, u)
}

// top returns the maxConsumers subjects that spent most. Ties are broken, so that the order is the same each time.
func (c *consumers) top() []sums {
	all := append(c.best, c.sums.sorted(func(a, b sums) int { return cmp.Compare(a.Key, b.Key) })...)
	slices.SortFunc(all, func(a, b sums) int {
		return cmp.Or(cmp.Compare(b.Spent, a.Spent), cmp.Compare(b.Charged, a.Charged), cmp.Compare(a.User, b.User),
			cmp.Compare(a.Key, b.Key))
	})
	return slices.Clone(all[:min(len(all), maxConsumers)]) // a copy, so that the rest can be collected
}

// sorted returns the sums of all subjects in an order.
func (t tally) sorted(compare func(a, b sums) int) []sums {
	all := make([]sums, 0, len(t))
	for s, u := range t {
		all = append(all, sums{s, u})
	}
	slices.SortFunc(all, compare)
	return all
}

// summaries caches the latest summary for each number of days. Callers only ever ask for those in periods, so it
// stays small.
type summaries struct {
	mu     sync.Mutex // guards both
	last   map[int]*summary
	making map[int]*making // those under way
}

// making is a summary under way.
type making struct {
	done chan struct{} // closed when the others are set
	made *summary
	err  error
}

// patience is how long a caller waits for a new summary who can have the last one.
const patience = time.Second

// latest returns a summary no older than summaryAge, or makes one. Only one is made at a time: who asks meanwhile waits
// for it. If that takes longer than patience, they get the last one, as long as there is one, so that no page grows
// slower with the number of users. After an error the next call tries again.
func (m *summaries) latest(ctx context.Context, ledger imagegen.CreditAdmin, e *engine.Engine, days int,
	now time.Time) (*summary, error) {
	m.mu.Lock()
	last := m.last[days]
	if last != nil && now.Sub(last.At).Abs() < summaryAge { // Abs: the clock may have been set back
		m.mu.Unlock()
		return last, nil
	}
	next := m.making[days]
	if next == nil {
		next = m.begin(context.WithoutCancel(ctx), ledger, e, days, now)
	}
	m.mu.Unlock()
	var enough <-chan time.Time // never, without a last one
	if last != nil {
		enough = time.After(patience)
	}
	select {
	case <-next.done:
		return next.made, next.err
	case <-enough:
		return last, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin has a summary made. The caller holds the lock.
func (m *summaries) begin(ctx context.Context, ledger imagegen.CreditAdmin, e *engine.Engine, days int,
	now time.Time) *making {
	next := &making{done: make(chan struct{})}
	if m.last == nil {
		m.last, m.making = make(map[int]*summary), make(map[int]*making)
	}
	m.making[days] = next
	go func() {
		defer close(next.done)
		next.made, next.err = summarize(ctx, ledger, e, days, now)
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.making, days)
		if next.err == nil {
			m.last[days] = next.made
		}
	}()
	return next
}
