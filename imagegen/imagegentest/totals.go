package imagegentest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// Totals checks that a storage that is an imagegen.TotalsKeeper sums up the generations of all users: those that
// succeed, in part or whole, those that fail, and those that are erased. open opens an empty storage, and registers its
// closing with t.Cleanup.
func Totals(t *testing.T, open func(t *testing.T) Storage) {
	is := is.New(t)
	db := open(t)
	model := func(id string, cost imagegen.Micros) engine.Model {
		return engine.Model{ID: id, Provider: &provider.Fake{}, Credits: imagegen.EveryTier(2),
			Cost: engine.Cost{Image: map[imagegen.Tier]imagegen.Micros{"1K": cost}}}
	}
	e := StartOver(t, db, func(c *engine.Config) {
		c.Models = []engine.Model{model("cheap", 10),
			model("dear", 300_000)}
	})
	generate := func(u imagegen.UserID, model, prompt string, n int) imagegen.GenerationID {
		t.Helper()
		r, err := e.As(u).Generate(t.Context(), imagegen.GenerateRequest{Model: model, Prompt: prompt, N: n,
			Size: small})
		if prompt != "[fake:panic]" {
			is.NoErr(err)
		}
		return r.ID
	}
	first := generate(Alice, "cheap", "a fox", 2)
	generate(Alice, "dear", "[fake:images=1] a fox", 3)
	generate(Bob, "dear", "a fox", 1)
	generate(Alice, "dear", "[fake:panic]", 1)
	row := func(k imagegen.TotalsKey, t imagegen.Totals) imagegen.TotalsRow {
		return imagegen.TotalsRow{TotalsKey: k,
			Totals: t}
	}
	check := func() {
		t.Helper()
		today := imagegen.UsageDay(e.Now())
		all := imagegen.Totals{Generations: 4, Images: 4, Spent: 8, Attempts: 4, Unknown: 1, Cost: 600_020}
		for _, c := range []struct {
			by   []imagegen.UsageGroup
			want []imagegen.TotalsRow
		}{
			{nil, []imagegen.TotalsRow{row(imagegen.TotalsKey{}, all)}},
			{[]imagegen.UsageGroup{imagegen.UsageByDay, imagegen.UsageByKey},
				[]imagegen.TotalsRow{row(imagegen.TotalsKey{Day: today}, all)}},
			{[]imagegen.UsageGroup{imagegen.UsageByModel}, []imagegen.TotalsRow{
				row(imagegen.TotalsKey{Model: "cheap"}, imagegen.Totals{Generations: 1, Images: 2, Spent: 4,
					Attempts: 1, Cost: 20}),
				row(imagegen.TotalsKey{Model: "dear"}, imagegen.Totals{Generations: 3, Images: 2, Spent: 4, Attempts: 3,
					Unknown: 1, Cost: 600_000})}},
			{[]imagegen.UsageGroup{imagegen.UsageByUser}, []imagegen.TotalsRow{
				row(imagegen.TotalsKey{User: Alice}, imagegen.Totals{Generations: 3, Images: 3, Spent: 6, Attempts: 3,
					Unknown: 1,
					Cost:    300_020}),
				row(imagegen.TotalsKey{User: Bob}, imagegen.Totals{Generations: 1, Images: 1, Spent: 2, Attempts: 1,
					Cost: 300_000})}},
			{[]imagegen.UsageGroup{imagegen.UsageByPayer}, []imagegen.TotalsRow{
				row(imagegen.TotalsKey{Payer: Alice}, imagegen.Totals{Generations: 3, Images: 3, Spent: 6, Attempts: 3,
					Unknown: 1, Cost: 300_020}),
				row(imagegen.TotalsKey{Payer: Bob}, imagegen.Totals{Generations: 1, Images: 1, Spent: 2, Attempts: 1,
					Cost: 300_000})}},
		} {
			got, err := e.Totals(t.Context(), imagegen.UsageQuery{By: c.by})
			is.NoErr(err)
			is.Equal(cmp.Diff(c.want, got), "")
		}
		past, err := e.Totals(t.Context(), imagegen.UsageQuery{To: today.Add(-24 * time.Hour)})
		is.NoErr(err)
		is.Equal(len(past), 0)
		report, err := db.Audit(context.Background())
		is.NoErr(err)
		is.Equal(len(report.Violations), 0)
	}
	check()
	is.NoErr(e.Erase(t.Context(), first)) // the books keep it
	check()
}
