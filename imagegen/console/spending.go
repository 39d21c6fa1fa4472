package console

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
)

// periods are the numbers of days that a chart can show. The first is the default.
var periods = []int{30, 90, 365}

// spending is what a person spent on the latest days.
type spending struct {
	Count   int      // of days, today included
	Periods []filter // links to other numbers of days
	Total   int64
	Most    day   // the day on which most was spent; of several, the latest
	Days    []day // those on which anything was spent, newest first
	Chart   chart
	Uses    []use // by key and model, the most spent first
}

// use is what was charged for a key and a model.
type use struct {
	imagegen.Usage
	Name string // of the key; "": no key was used, or it is gone
}

// spending sums up what the person spent on the days that the address asks for. Days are those of UTC.
func (c *Console) spending(p *page) (*spending, error) {
	n := p.days()
	to := imagegen.UsageDay(p.now)
	from := to.AddDate(0, 0, 1-n)
	usage, err := c.cfg.Ledger.Usage(p.context(), p.person.ID, imagegen.UsageQuery{From: from, To: to, By: []imagegen.UsageGroup{imagegen.UsageByDay}})
	if err != nil {
		return nil, err
	}
	s := &spending{Count: n, Periods: p.periods(n)}
	for _, u := range usage {
		if u.Spent == 0 {
			continue
		}
		d := day{u.Day, int64(u.Spent)}
		s.Days = append(s.Days, d)
		if s.Total += d.Amount; d.Amount >= s.Most.Amount {
			s.Most = d
		}
	}
	s.Chart = newChart(ofCredits, from, n, s.Days) // the chart wants the days in order, the table newest first
	slices.Reverse(s.Days)
	s.Uses, err = c.uses(p, imagegen.UsageQuery{From: from, To: to, By: []imagegen.UsageGroup{imagegen.UsageByModel, imagegen.UsageByKey}})
	return s, err
}

// maxUses is how many lines of usage by key and model a page shows.
const maxUses = 100

// uses returns what was charged for each key and model, at most maxUses lines.
func (c *Console) uses(p *page, q imagegen.UsageQuery) ([]use, error) {
	rows, err := c.cfg.Ledger.Usage(p.context(), p.person.ID, q)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	keys, err := c.cfg.Engine.Accounts().Keys(p.context(), p.person.ID)
	if err != nil {
		return nil, err
	}
	names := make(map[imagegen.KeyID]string, len(keys))
	for _, k := range keys {
		names[k.ID] = cmp.Or(k.Name, k.Prefix+"…")
	}
	// The ledger orders rows by day, model and key; that stays the order of rows that cost the same.
	slices.SortStableFunc(rows, func(a, b imagegen.Usage) int { return cmp.Compare(b.Spent, a.Spent) })
	all := make([]use, min(len(rows), maxUses))
	for i := range all {
		all[i] = use{rows[i], names[rows[i].Key]}
	}
	return all, nil
}

// periods returns links to the same page with another number of days.
func (p *page) periods(now int) (all []filter) {
	for _, n := range periods {
		all = append(all, filter{strconv.Itoa(n) + " days", p.here("days", strconv.Itoa(n)), n == now})
	}
	return all
}
