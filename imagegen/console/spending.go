package console

import (
	"slices"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// periods are how many days the chart can show, the first unless another is asked for.
var periods = []int{30, 90, 365}

// spending is what was spent on the latest days.
type spending struct {
	Count   int // of days
	Periods []filter
	Total   imagegen.Credits
	Most    imagegen.Day   // of all, the latest
	Days    []imagegen.Day // on which anything was, the newest first
	Chart   chart
}

// spending is nil if the ledger does not know.
func (c *Console) spending(p *page) (*spending, error) {
	book, ok := c.cfg.Ledger.(imagegen.DailyUsage)
	if !ok {
		return nil, nil
	}
	n, _ := strconv.Atoi(p.r.URL.Query().Get("days"))
	if !slices.Contains(periods, n) {
		n = periods[0]
	}
	to := p.now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	from := to.AddDate(0, 0, -n)
	days, err := book.Days(p.context(), p.person.ID, from, to)
	if err != nil {
		return nil, err
	}
	s := &spending{Count: n, Periods: p.periods(n), Chart: newChart(from, n, days)}
	for _, d := range days {
		if s.Total += d.Spent; d.Spent >= s.Most.Spent {
			s.Most = d
		}
	}
	slices.Reverse(days)
	s.Days = days
	return s, nil
}

// periods lead to the same page with another number of days.
func (p *page) periods(now int) (all []filter) {
	for _, n := range periods {
		all = append(all, filter{strconv.Itoa(n) + " days", p.here("days", strconv.Itoa(n)), n == now})
	}
	return all
}
