package credits

import (
	"cmp"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/chart"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// spending is what a person spent on the latest days.
type spending struct {
	Count   int            // of days, today included
	Periods []frame.Filter // links to other numbers of days
	Total   int64
	Most    chart.Day   // the day on which most was spent; of several, the latest
	Days    []chart.Day // those on which anything was spent, newest first
	Chart   chart.Chart
	Member  bool  // another user paid
	Uses    []use // by key and model, or by model for a member, the most spent first
}

// use is what was charged for a key and a model.
type use struct {
	imagegen.Usage
	Name string // of the key; "": no key was used, or it is gone
}

// newSpending sums up what the person spent on the days that the address asks for. Days are those of UTC.
func newSpending(p *frame.Page) (*spending, error) {
	n := p.Days()
	payer := p.Person.Payer()
	to, err := p.Ledger.Today(p.Context(), payer)
	if err != nil {
		return nil, err
	}
	from := to.AddDate(0, 0, 1-n)
	query := imagegen.UsageQuery{From: from, To: to, By: []imagegen.UsageGroup{imagegen.UsageByDay}}
	if p.Person.Sponsor != "" {
		query.Member = p.Person.ID
	}
	usage, err := p.Ledger.Usage(p.Context(), payer, query)
	if err != nil {
		return nil, err
	}
	s := &spending{Count: n, Periods: p.Periods(), Member: query.Member != ""}
	for _, u := range usage {
		if u.Spent == 0 {
			continue
		}
		d := chart.Day{Date: u.Day, Amount: int64(u.Spent)}
		s.Days = append(s.Days, d)
		if s.Total += d.Amount; d.Amount >= s.Most.Amount {
			s.Most = d
		}
	}
	s.Chart = chart.New(chart.Credits, from, n, s.Days) // the chart wants the days in order, the table newest first
	slices.Reverse(s.Days)
	query.By = []imagegen.UsageGroup{imagegen.UsageByModel, imagegen.UsageByKey}
	if query.Member != "" {
		query.By = query.By[:1] // what a member used is not summed up by key
	}
	s.Uses, err = usesByKeyAndModel(p, query)
	return s, err
}

// maxUses is how many lines of usage by key and model a page shows.
const maxUses = 100

// usesByKeyAndModel returns what was charged for each key and model, at most maxUses lines.
func usesByKeyAndModel(p *frame.Page, q imagegen.UsageQuery) ([]use, error) {
	rows, err := p.Ledger.Usage(p.Context(), p.Person.Payer(), q)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	keys, err := p.Engine.Accounts().Keys(p.Context(), p.Person.ID)
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
