package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// usageCommand checks neither the days nor the groups beyond their form: the engine knows the rules, and its error
// names what is wrong.
func (a *app) usageCommand() *cobra.Command {
	q := admin.UsageQuery{}
	var by string
	var all, asCSV bool
	c := &cobra.Command{
		Use:   "usage --user NAME | --all",
		Short: "sum up what a user was charged, or what all users brought in and cost",
		Long: "Sums up what a user was charged, on the last 30 days or from --from to --to. A refund counts on the day of its\n" +
			"charge. With --all it sums up the generations of all users, by the day on which they were accepted: what they\n" +
			"brought in, if --credit-value is known, what they cost upstream, and of how many attempts that is unknown. Beside\n" +
			"a running server, the currency and the value of a credit are the server's, unless a flag says otherwise. Days are\n" +
			"those of UTC.",
		Example: "  imagegend usage --user alice\n" +
			"  imagegend usage --user alice --from 2026-01-01 --to 2026-01-31 --by key,model\n" +
			"  imagegend usage --all --by model,user",
	}
	c.Flags().StringVar(&q.User, "user", "", "`name` of the user")
	c.Flags().StringVar(&q.Member, "member", "", "`name` of a member: only what the user paid for this one")
	c.Flags().BoolVar(&all, "all", false, "sum up all users, with revenue and cost")
	c.Flags().Var(instant(&q.From.Time, admin.ParseDay), "from",
		"the first `day`, such as 2026-01-01; without it, 29 days before the last")
	c.Flags().Var(instant(&q.To.Time, admin.ParseDay), "to", "the last `day`, which is included; without it, today")
	c.Flags().StringVar(&by, "by", "day",
		"`groups` to sum up by: day, model and key or member or, with --all, user, with commas between; none is one sum")
	a.settings.MoneyFlags(c.Flags())
	c.MarkFlagsOneRequired("user", "all")
	for _, ofAll := range []string{"all", "currency", "credit-value"} {
		c.MarkFlagsMutuallyExclusive("user", ofAll)
	}
	asJSON := jsonFlag(c, "one JSON array")
	c.Flags().BoolVar(&asCSV, "csv", false, "with --all: a table as CSV")
	c.MarkFlagsMutuallyExclusive("member", "all")
	c.MarkFlagsMutuallyExclusive("csv", "user")
	c.MarkFlagsMutuallyExclusive("csv", "json")
	a.administer(c, func(cmd *cobra.Command, s admin.Caller, _ []string) error {
		// No group at all is one row with the sums of everything.
		if q.By = nil; by != "none" {
			for _, g := range strings.Split(by, ",") {
				q.By = append(q.By, imagegen.UsageGroup(strings.TrimSpace(g)))
			}
		}
		if all {
			report, err := a.totals(cmd.Context(), s, admin.TotalsQuery{From: q.From, To: q.To, By: q.By})
			switch {
			case err != nil:
				return err
			case asCSV:
				return writeTotals(a.stdout, report)
			}
			return a.printTotals(*asJSON, report)
		}
		report, err := admin.SumUsage.Do(cmd.Context(), s, q)
		if err != nil {
			return err
		}
		// CHARGED was taken at acceptance. Of that, REFUNDED was given back and SPENT is spent for good; open charges
		// hold the rest.
		header := append(grouped(report.By, heading), "CHARGED", "REFUNDED", "SPENT",
			"IMAGES", "GENERATIONS", "FAILED", "CANCELLED")
		return printList(a, *asJSON, report.Rows, header, func(r admin.UsageRow) []any {
			of := usageOf(r)
			cell := func(g imagegen.UsageGroup) any { return or(of[g], "-") }
			return append(grouped(report.By, cell),
				r.Charged, r.Refunded, r.Spent, r.Images, r.Generations, r.Failed, r.Cancelled)
		})
	})
	return c
}

// totals returns what all users brought in and cost. The settings of money in a variable or a file may be meant for
// another server than the one that answers: beside it, only flags count.
func (a *app) totals(ctx context.Context, s admin.Caller, q admin.TotalsQuery) (admin.TotalsReport, error) {
	report, err := admin.SumTotals.Do(ctx, s, q)
	if err != nil {
		return report, err
	}
	alone := report.Currency == ""
	if alone || a.sources.Given("currency") {
		report.Currency = a.settings.Currency
	}
	if alone || a.sources.Given("credit-value") {
		report.CreditValue.Micros = a.settings.CreditValue
	}
	report.Evaluate()
	return report, nil
}

// printTotals prints totals for people, or as JSON.
func (a *app) printTotals(asJSON bool, report admin.TotalsReport) error {
	header := append(grouped(report.By, heading), "GENERATIONS", "IMAGES", "CREDITS",
		"REVENUE "+report.Currency, "COST "+report.Currency, "MARGIN "+report.Currency, "UNKNOWN")
	return printList(a, asJSON, report.Rows, header, func(r admin.TotalsRow) []any {
		of := totalsOf(r)
		cell := func(g imagegen.UsageGroup) any { return or(of[g], "-") }
		return append(grouped(report.By, cell), r.Generations, r.Images, r.Spent, or(r.Revenue, "-"), r.Cost,
			or(r.Margin, "-"), fmt.Sprintf("%d of %d", r.Unknown, r.Attempts))
	})
}

// writeTotals writes totals as CSV. What is not known is empty.
func writeTotals(to io.Writer, report admin.TotalsReport) error {
	w := csv.NewWriter(to)
	name := func(g imagegen.UsageGroup) string { return string(g) }
	_ = w.Write(append(grouped(report.By, name), "generations", "images", "credits",
		"revenue", "cost", "margin", "currency", "attempts", "unknown")) // Flush keeps the error
	for _, r := range report.Rows {
		of := totalsOf(r)
		cell := func(g imagegen.UsageGroup) any { return or(of[g], "") }
		cells := append(grouped(report.By, cell), r.Generations, r.Images, r.Spent, or(r.Revenue, ""), r.Cost,
			or(r.Margin, ""), report.Currency, r.Attempts, r.Unknown)
		_ = w.Write(lists.Each(cells, func(cell any) string { return fmt.Sprint(cell) }))
	}
	w.Flush()
	return w.Error()
}

// grouped returns the cells of what rows are grouped by, in the service's order and not in that of --by.
func grouped[T any](by []imagegen.UsageGroup, cell func(imagegen.UsageGroup) T) (cells []T) {
	for _, g := range []imagegen.UsageGroup{imagegen.UsageByDay, imagegen.UsageByModel, imagegen.UsageByPayer,
		imagegen.UsageByUser, imagegen.UsageByKey, imagegen.UsageByMember} {
		if slices.Contains(by, g) {
			cells = append(cells, cell(g))
		}
	}
	return cells
}

// heading is what a table calls a property.
func heading(g imagegen.UsageGroup) string { return strings.ToUpper(string(g)) }

// totalsOf returns what a row of totals is of, by group; nil: of nothing, such as of no key.
func totalsOf(r admin.TotalsRow) map[imagegen.UsageGroup]*string {
	return map[imagegen.UsageGroup]*string{imagegen.UsageByDay: new(r.Day.Format(time.DateOnly)),
		imagegen.UsageByModel: r.Model, imagegen.UsageByPayer: r.Payer, imagegen.UsageByUser: r.User,
		imagegen.UsageByKey: (*string)(r.Key)}
}

// usageOf returns what a row of usage is of, by group; nil: of nothing.
func usageOf(r admin.UsageRow) map[imagegen.UsageGroup]*string {
	return map[imagegen.UsageGroup]*string{imagegen.UsageByDay: new(r.Day.Format(time.DateOnly)),
		imagegen.UsageByModel: r.Model, imagegen.UsageByKey: (*string)(r.Key), imagegen.UsageByMember: r.Member}
}

// or returns what v points to, and none for nil: work that no key asked for, such as that of the console, has no key.
func or[T any](v *T, none string) any {
	if v == nil {
		return none
	}
	return *v
}
