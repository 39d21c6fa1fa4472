package system

import (
	"cmp"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/chart"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// Money is console.Money.
type Money struct {
	Currency    string
	CreditValue imagegen.Micros
}

// earnings are what images brought in and cost, of the days of a summary.
type earnings struct {
	Money
	Total          earned
	Days           []earned // newest first
	Models, Users  []earned // those that cost most, most first
	Revenue, Costs chart.Chart
}

// earned is what the images of one subject brought in and cost.
type earned struct {
	subject
	imagegen.Totals
	Revenue, Margin imagegen.Micros
	Name            string // of the user; "": the user is not known here
}

// newEarnings returns nil if neither a cost nor the value of a credit is known.
func (s *Pages) newEarnings(p *frame.Page, sum *summary, days int) *earnings {
	if sum.totals[subject{}].Cost == 0 && s.Money.CreditValue == 0 {
		return nil
	}
	e := &earnings{Money: s.Money}
	for of, t := range sum.totals {
		line := earned{subject: of, Totals: t}
		line.Revenue, line.Margin = t.Earned(s.Money.CreditValue)
		switch {
		case !of.Day.IsZero():
			e.Days = append(e.Days, line)
		case of.Model != "":
			e.Models = append(e.Models, line)
		case of.User != "":
			e.Users = append(e.Users, line)
		default:
			e.Total = line
		}
	}
	slices.SortFunc(e.Days, func(a, b earned) int { return b.Day.Compare(a.Day) })
	var revenue, costs []chart.Day
	for _, d := range slices.Backward(e.Days) {
		revenue = append(revenue, chart.Day{Date: d.Day, Amount: int64(d.Revenue) / 10_000})
		costs = append(costs, chart.Day{Date: d.Day, Amount: int64(d.Cost) / 10_000})
	}
	unit := chart.Unit{One: "hundredth of " + e.Currency, Many: "hundredths of " + e.Currency}
	e.Revenue, e.Costs = chart.New(unit, sum.From, days, revenue, costs...), chart.New(unit, sum.From, days, costs,
		revenue...)
	e.Models, e.Users = dearest(e.Models), dearest(e.Users)
	for i, u := range e.Users {
		e.Users[i].Name = p.UserName(u.User)
	}
	return e
}

// dearest returns the maxConsumers that cost most.
func dearest(all []earned) []earned {
	slices.SortFunc(all, func(a, b earned) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Spent, a.Spent), cmp.Compare(a.Model, b.Model),
			cmp.Compare(a.User, b.User))
	})
	return all[:min(len(all), maxConsumers)]
}
