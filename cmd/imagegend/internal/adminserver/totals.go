package adminserver

import (
	"cmp"
	"context"
	"slices"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// sumTotals names users by their names. It reads all users at once: there can be a row for each.
func (l *Local) sumTotals(ctx context.Context, in admin.TotalsQuery) (admin.TotalsReport, error) {
	today, err := l.DB.Today(ctx, "")
	if err != nil {
		return admin.TotalsReport{}, words(err)
	}
	q, err := imagegen.UsageQuery{From: in.From.Time, To: in.To.Time, By: in.By}.TotalsWithDefaults(today)
	if err != nil {
		return admin.TotalsReport{}, words(err)
	}
	rows, err := l.Engine.Totals(ctx, q)
	if err != nil {
		return admin.TotalsReport{}, words(err)
	}
	names := make(map[imagegen.UserID]string)
	if slices.Contains(q.By, imagegen.UsageByUser) || slices.Contains(q.By, imagegen.UsageByPayer) {
		users, err := l.asked(ctx, "")
		if err != nil {
			return admin.TotalsReport{}, err
		}
		for _, u := range users {
			names[u.ID] = u.Name
		}
	}
	report := admin.TotalsReport{From: admin.Day{Time: q.From}, To: admin.Day{Time: q.To}, By: listed(q.By),
		Currency: l.Money.Currency, CreditValue: admin.Money{Micros: l.Money.CreditValue},
		Rows: lists.Each(rows, func(r imagegen.TotalsRow) admin.TotalsRow { return viewTotalsRow(r, names) })}
	report.Evaluate()
	return report, nil
}

// viewTotalsRow shows a row. What the query does not group by is "" in r, and null in JSON.
func viewTotalsRow(r imagegen.TotalsRow, names map[imagegen.UserID]string) admin.TotalsRow {
	named := func(id imagegen.UserID) *string { return orNull(cmp.Or(names[id], string(id))) }
	return admin.TotalsRow{Day: admin.Day{Time: r.Day}, Model: orNull(r.Model), Payer: named(r.Payer),
		User: named(r.User), Key: orNull(r.Key), Generations: r.Generations, Images: r.Images, Spent: r.Spent,
		Cost: admin.Money{Micros: r.Cost}, Attempts: r.Attempts, Unknown: r.Unknown}
}
