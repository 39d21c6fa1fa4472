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
// it holds a total for every user and key that has any.
func summarize(ctx context.Context, ledger imagegen.CreditAdmin, e *engine.Engine, days int,
	now time.Time) (*summary, error) {
	to, err := ledger.Today(ctx, "")
	if err != nil {
		return nil, err
	}
	s := &summary{At: now, From: to.AddDate(0, 0, 1-days)}
	byDay, byModel, byUser, byKey := tally{}, tally{}, tally{}, tally{}
	err = ledger.EachUsage(ctx, s.From, to, func(u imagegen.UserID, row imagegen.Usage) {
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
	err = e.EachTotals(ctx, s.From, to, func(r imagegen.TotalsRow) {
		for _, of := range []subject{{}, {Day: r.Day}, {Model: r.Model}, {User: r.User}} {
			s.totals[of] = s.totals[of].Plus(r.Totals)
		}
	})
	if errors.Is(err, imagegen.ErrNotFound) {
		err = nil
	}
	return s, err
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

// top returns the maxConsumers subjects that spent most. Ties are broken, so that the order is the same each time.
func (t tally) top() []sums {
	all := t.sorted(func(a, b sums) int {
		return cmp.Or(cmp.Compare(b.Spent, a.Spent), cmp.Compare(b.Charged, a.Charged), cmp.Compare(a.User, b.User),
			cmp.Compare(a.Key, b.Key))
	})
	return slices.Clone(all[:min(len(all), maxConsumers)]) // a copy, so that the rest can be collected
}

// summaries caches the latest summary for each number of days. Callers only ever ask for those in periods, so it
// stays small.
type summaries struct {
	mu   sync.Mutex // held while a summary is made
	last map[int]*summary
}

// latest returns a summary no older than summaryAge, or makes one. Only one is made at a time: a request that asks
// meanwhile waits, whatever its context, and mostly finds it made. After an error the next call tries again.
func (m *summaries) latest(ctx context.Context, ledger imagegen.CreditAdmin, e *engine.Engine, days int,
	now time.Time) (*summary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.last[days]; s != nil && now.Sub(s.At).Abs() < summaryAge { // Abs: the clock may have been set back
		return s, nil
	}
	s, err := summarize(ctx, ledger, e, days, now)
	if err != nil {
		return nil, err
	}
	if m.last == nil {
		m.last = make(map[int]*summary)
	}
	m.last[days] = s
	return s, nil
}
