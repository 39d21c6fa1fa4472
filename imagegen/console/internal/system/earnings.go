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
	Total         earned
	Models, Users []earned // those that cost most, most first
	Costs         chart.Chart
}

// earned is what the images of one subject brought in and cost.
type earned struct {
	subject
	imagegen.Totals
	Name   string // of the user; "": the user is not known here
	credit imagegen.Micros
}

// Revenue is what the credits are worth that were spent.
func (e earned) Revenue() imagegen.Micros { return imagegen.Micros(e.Spent) * e.credit }

// Margin is what is left of the revenue.
func (e earned) Margin() imagegen.Micros { return e.Revenue() - e.Cost }

// newEarnings returns nil if neither a cost nor the value of a credit is known.
func (s *Pages) newEarnings(p *frame.Page, sum *summary, days int) *earnings {
	if sum.totals[subject{}].Cost == 0 && s.Money.CreditValue == 0 {
		return nil
	}
	e := &earnings{Money: s.Money, Total: earned{Totals: sum.totals[subject{}], credit: s.Money.CreditValue}}
	var costs []chart.Day
	for of, t := range sum.totals {
		line := earned{of, t, "", s.Money.CreditValue}
		switch {
		case !of.Day.IsZero():
			costs = append(costs, chart.Day{Date: of.Day, Amount: int64(t.Cost) / 10_000})
		case of.Model != "":
			e.Models = append(e.Models, line)
		case of.User != "":
			e.Users = append(e.Users, line)
		}
	}
	slices.SortFunc(costs, func(a, b chart.Day) int { return a.Date.Compare(b.Date) })
	unit := chart.Unit{One: "hundredth of " + e.Currency, Many: "hundredths of " + e.Currency}
	e.Costs = chart.New(unit, sum.From, days, costs)
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
