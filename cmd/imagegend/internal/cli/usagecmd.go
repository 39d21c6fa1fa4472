package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
	"github.com/imagegend/imagegend/imagegen"
)

// usage checks neither the days nor the groups beyond their form: the engine knows the rules, and its error names
// what is wrong.
func (a *app) usage() *cobra.Command {
	q := admin.UsageQuery{}
	var by string
	c := &cobra.Command{
		Use:   "usage --user NAME",
		Short: "sum up what a user was charged, by day, model and key",
		Long: "Sums up what a user was charged, on the last 30 days or from --from to --to. A refund counts on the day of its\n" +
			"charge. Days are those of UTC.",
		Example: "  imagegend usage --user alice\n" +
			"  imagegend usage --user alice --from 2026-01-01 --to 2026-01-31 --by key,model",
		Args: exactly(),
	}
	userFlag(c, &q.User)
	c.Flags().Var(instant(&q.From.Time, admin.ParseDay), "from", "the first `day`, such as 2026-01-01; without it, 29 days before the last")
	c.Flags().Var(instant(&q.To.Time, admin.ParseDay), "to", "the last `day`, which is included; without it, today")
	c.Flags().StringVar(&by, "by", "day", "`groups` to sum up by: day, model and key, with commas between; none is one sum")
	asJSON := jsonFlag(c, "one JSON array")
	a.administer(c, func(cmd *cobra.Command, s admin.Service, _ []string) error {
		// No group at all is one row with the sums of everything.
		if q.By = nil; by != "none" {
			for _, g := range strings.Split(by, ",") {
				q.By = append(q.By, imagegen.UsageGroup(strings.TrimSpace(g)))
			}
		}
		report, err := s.Usage(cmd.Context(), q)
		if err != nil {
			return err
		}
		header := []string{"CHARGED", "REFUNDED", "SPENT", "IMAGES", "GENERATIONS", "FAILED", "CANCELLED"}
		// The columns that the rows are grouped by come first, in the service's order and not in that of --by.
		for _, g := range slices.Backward(imagegen.UsageGroups()) {
			if slices.Contains(report.By, g) {
				header = append([]string{strings.ToUpper(string(g))}, header...)
			}
		}
		return list(a, *asJSON, report.Rows, header, func(r admin.UsageRow) []any { return usageCells(r, report.By) })
	})
	return c
}

// usageCells returns a line of the table: only what the rows are grouped by, in the order of the header, then the
// sums.
func usageCells(r admin.UsageRow, by []imagegen.UsageGroup) (cells []any) {
	if slices.Contains(by, imagegen.UsageByDay) {
		cells = append(cells, r.Day.Format(time.DateOnly))
	}
	if slices.Contains(by, imagegen.UsageByModel) {
		cells = append(cells, orNone(r.Model))
	}
	if slices.Contains(by, imagegen.UsageByKey) {
		cells = append(cells, orNone(r.Key))
	}
	// CHARGED was taken at acceptance. Of that, REFUNDED was given back and SPENT is spent for good; open charges hold
	// the rest.
	return append(cells, r.Charged, r.Refunded, r.Spent, r.Images, r.Generations, r.Failed, r.Cancelled)
}

// orNone returns a dash for nil: work that no key asked for, such as that of the console, has no key.
func orNone[S ~string](s *S) string {
	if s == nil {
		return "-"
	}
	return string(*s)
}
