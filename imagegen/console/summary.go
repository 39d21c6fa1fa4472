package console

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	// summaryAge is how long a summary is shown: to make one is to read each row of usage of its days.
	summaryAge = time.Minute
	// maxConsumers is how many users, and how many keys, a summary names.
	maxConsumers = 10
)

// summary is what all users were charged on the days since one.
type summary struct {
	At      time.Time // when it was made
	From    time.Time
	Total   imagegen.UsageSums
	Days    []sums // on which anything was, the newest first
	byModel []sums
	byUser  []sums // those who spent most
	byKey   []sums
}

// subject is what is told apart; what is not is zero.
type subject struct {
	Day   time.Time
	Model string
	User  imagegen.UserID
	Key   imagegen.KeyID
}

// sums are sums over the charges of a subject.
type sums struct {
	subject
	imagegen.UsageSums
}

// tally adds up.
type tally map[subject]imagegen.UsageSums

func (t tally) add(s subject, u imagegen.UsageSums) { t[s] = t[s].Plus(u) }

// summarize reads the rows of the days once.
func summarize(ctx context.Context, ledger imagegen.CreditAdmin, days int, now time.Time) (*summary, error) {
	to := imagegen.UsageDay(now)
	s := &summary{At: now, From: to.AddDate(0, 0, 1-days)}
	byDay, byModel, byUser, byKey := tally{}, tally{}, tally{}, tally{}
	err := ledger.EachUsage(ctx, s.From, to, func(u imagegen.UserID, row imagegen.Usage) {
		s.Total = s.Total.Plus(row.UsageSums)
		byDay.add(subject{Day: row.Day}, row.UsageSums)
		byModel.add(subject{Model: row.Model}, row.UsageSums)
		byUser.add(subject{User: u}, row.UsageSums)
		if row.Key != "" {
			byKey.add(subject{User: u, Key: row.Key}, row.UsageSums)
		}
	})
	if err != nil {
		return nil, err
	}
	s.Days = byDay.sorted(func(a, b sums) int { return b.Day.Compare(a.Day) })
	s.byModel = byModel.sorted(func(a, b sums) int { return cmp.Compare(a.Model, b.Model) })
	s.byUser, s.byKey = byUser.top(), byKey.top()
	return s, nil
}

func (t tally) sorted(compare func(a, b sums) int) []sums {
	all := make([]sums, 0, len(t))
	for s, u := range t {
		all = append(all, sums{s, u})
	}
	slices.SortFunc(all, compare)
	return all
}

// top are those who spent most.
func (t tally) top() []sums {
	all := t.sorted(func(a, b sums) int {
		return cmp.Or(cmp.Compare(b.Spent, a.Spent), cmp.Compare(b.Charged, a.Charged), cmp.Compare(a.User, b.User), cmp.Compare(a.Key, b.Key))
	})
	return slices.Clone(all[:min(len(all), maxConsumers)]) // the rest is not held on to
}

// summaries are those that were made last, by the number of their days.
type summaries struct {
	mu   sync.Mutex
	last map[int]*summary
}

// of makes a summary unless there is one that is recent. Who asks meanwhile waits for it.
func (m *summaries) of(ctx context.Context, ledger imagegen.CreditAdmin, days int, now time.Time) (*summary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.last[days]; s != nil && now.Sub(s.At).Abs() < summaryAge {
		return s, nil
	}
	s, err := summarize(ctx, ledger, days, now)
	if err != nil {
		return nil, err
	}
	if m.last == nil {
		m.last = make(map[int]*summary)
	}
	m.last[days] = s
	return s, nil
}
