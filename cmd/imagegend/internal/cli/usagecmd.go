package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
	"github.com/imagegend/imagegend/imagegen"
)

func (a *app) usage() *cobra.Command {
	q := admin.UsageQuery{}
	var by string
	c := &cobra.Command{
		Use:   "usage --user NAME",
		Short: "sum up what a user was charged, by day, model and key",
		Long:  "Sums up what a user was charged, on the last 30 days or on those that are named. A charge and what comes back of it count on the day of the charge, in UTC.",
		Example: "  imagegend usage --user alice\n" +
			"  imagegend usage --user alice --from 2026-01-01 --to 2026-01-31 --by key,model",
		Args: exactly(),
	}
	userFlag(c, &q.User)
	c.Flags().Var((*dayValue)(&q.From), "from", "the first `day`, such as 2026-01-01; without it the 29th before the last")
	c.Flags().Var((*dayValue)(&q.To), "to", "the last `day`, which is included; without it today")
	c.Flags().StringVar(&by, "by", "day", "what to tell apart, of day, model and key, with commas between; none is one sum")
	asJSON := jsonFlag(c, "one JSON array")
	a.settings.DataFlags(c.Flags())
	c.RunE = a.administer(func(cmd *cobra.Command, s admin.Service, _ []string) error {
		if q.By = nil; by != "none" {
			for _, g := range strings.Split(by, ",") {
				q.By = append(q.By, imagegen.UsageGroup(strings.TrimSpace(g)))
			}
		}
		report, err := s.Usage(cmd.Context(), q)
		if err != nil {
			return err
		}
		lines := make([]usageLine, len(report.Rows))
		for i, r := range report.Rows {
			lines[i] = newUsageLine(r)
		}
		header := []string{"CHARGED", "REFUNDED", "SPENT", "IMAGES", "GENERATIONS", "FAILED"}
		for _, g := range slices.Backward(imagegen.UsageGroups()) {
			if slices.Contains(report.By, g) {
				header = append([]string{strings.ToUpper(string(g))}, header...)
			}
		}
		return list(a, *asJSON, lines, header, func(l usageLine) []any { return l.cells(report.By) })
	})
	return c
}

// usageLine is a row of usage as it is printed.
type usageLine struct {
	Day         *string          `json:"day"`
	Model       *string          `json:"model"`
	Key         *imagegen.KeyID  `json:"key"`
	Charged     imagegen.Credits `json:"credits_charged"`
	Refunded    imagegen.Credits `json:"credits_refunded"`
	Spent       imagegen.Credits `json:"credits_spent"`
	Images      int              `json:"images"`
	Generations int              `json:"generations"`
	Failed      int              `json:"failed"`
}

func newUsageLine(r imagegen.Usage) usageLine {
	l := usageLine{Charged: r.Charged, Refunded: r.Refunded, Spent: r.Spent, Images: r.Images, Generations: r.Generations, Failed: r.Failed}
	if !r.Day.IsZero() {
		day := r.Day.Format(time.DateOnly)
		l.Day = &day
	}
	if r.Model != "" {
		l.Model = &r.Model
	}
	if r.Key != "" {
		l.Key = &r.Key
	}
	return l
}

func (l usageLine) cells(by []imagegen.UsageGroup) (cells []any) {
	if slices.Contains(by, imagegen.UsageByDay) {
		cells = append(cells, orNone(l.Day))
	}
	if slices.Contains(by, imagegen.UsageByModel) {
		cells = append(cells, orNone(l.Model))
	}
	if slices.Contains(by, imagegen.UsageByKey) {
		cells = append(cells, orNone(l.Key))
	}
	return append(cells, l.Charged, l.Refunded, l.Spent, l.Images, l.Generations, l.Failed)
}

func orNone[S ~string](s *S) string {
	if s == nil {
		return "-"
	}
	return string(*s)
}

// dayValue is a flag that takes a day.
type dayValue time.Time

// String shows the day.
func (d *dayValue) String() string {
	if time.Time(*d).IsZero() {
		return ""
	}
	return time.Time(*d).Format(time.DateOnly)
}

// Type names the value in help.
func (*dayValue) Type() string { return "day" }

// Set implements pflag.Value.
func (d *dayValue) Set(s string) error {
	day, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return fmt.Errorf("a day is such as 2026-01-31; got %q", s)
	}
	*d = dayValue(day)
	return nil
}
