package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// trailCommand can list millions of rows, so it prints them as they come; only the table waits for all of them. --json
// therefore prints an object for each row, and not one array as other listings do.
func (a *app) trailCommand() *cobra.Command {
	var q admin.TrailQuery
	var limit int
	c := &cobra.Command{
		Use:   "trail",
		Short: "list who did what, newest first",
		Long: "Lists the audit trail: administrative acts and sign-ins, however they came, newest first. A row says\n" +
			"when, who and from where, what was done to what, what it changed and what became of it. Rows are never\n" +
			"changed; imagegend audit verifies their chain. Sign-ins that failed are counted by the minute.",
		Example: "  imagegend trail --act credit --since 24h\n" +
			"  imagegend trail --target alice --limit 20\n" +
			"  imagegend trail --json > trail.jsonl",
	}
	c.Flags().StringVar(&q.Actor, "actor", "",
		"only acts of this `name`, identifier, or way and name such as console:olivia")
	c.Flags().StringVar(&q.Act, "act", "", "only this `act`, such as key.revoke, or all of a kind, such as key")
	c.Flags().StringVar(&q.Target, "target", "", "only acts about this `name` of a user or a webhook, or identifier")
	c.Flags().Var(instant(&q.Since.Time, parseSince), "since",
		"only acts from this `time` on, such as 2030-12-31T00:00:00Z, or from so long ago, such as 24h or 7d")
	c.Flags().Var(config.Count(&limit), "limit", "how many of the newest rows to list; without it, all")
	asJSON := jsonFlag(c, "JSON lines: one object for each row")
	a.administer(c, func(cmd *cobra.Command, s admin.Caller, _ []string) error {
		show, flush := a.trailTable()
		if *asJSON {
			lines := json.NewEncoder(a.stdout)
			lines.SetEscapeHTML(false)
			show, flush = func(r admin.TrailRow) error { return lines.Encode(r) }, func() error { return nil }
		}
		none := true
		err := eachTrailRow(cmd.Context(), s, q, limit, func(r admin.TrailRow) error {
			none = false
			return show(r)
		})
		if err != nil {
			return err
		}
		// An empty table says that nothing happened, and a misspelt act or name looks the same.
		if none && q.Actor+q.Act+q.Target != "" {
			fmt.Fprintln(a.stderr,
				"no row fits; imagegend trail without flags shows how acts, actors and targets are written")
		}
		return flush()
	})
	return c
}

// eachTrailRow calls show for each row as it is read, page by page, since there may be very many. limit 0 shows all.
// After an error, show has had the rows before it.
func eachTrailRow(ctx context.Context, s admin.Caller, q admin.TrailQuery, limit int,
	show func(admin.TrailRow) error) error {
	for shown := 0; ; {
		q.Limit = account.MaxTrailPage
		if limit > 0 {
			// The last page is only as long as what is left.
			q.Limit = min(q.Limit, limit-shown)
		}
		p, err := admin.ListTrail.Do(ctx, s, q)
		if err != nil {
			return err
		}
		for _, r := range p.Rows {
			if err := show(r); err != nil {
				return err
			}
		}
		// A page without rows is not the last one: only Next says that.
		if shown += len(p.Rows); p.Next == 0 || limit > 0 && shown == limit {
			return nil
		}
		q.Before = p.Next
	}
}

// trailTable holds all rows until flush: the widths of the columns depend on them.
func (a *app) trailTable() (show func(admin.TrailRow) error, flush func() error) {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	// OF is the user whose the target is: for a key, its owner.
	fmt.Fprintln(w, "SEQ\tTIME\tACTOR\tADDRESS\tACT\tTARGET\tOF\tBEFORE\tAFTER\tOUTCOME")
	return func(r admin.TrailRow) error {
		// As --actor takes it, such as console:olivia.
		who := account.Actor{Via: r.Via, Name: r.Actor}.String()
		cells := []any{r.Seq, when(r.Time), orDash(who), orDash(r.Address), r.Act, orDash(r.Target), orDash(r.User),
			orDash(r.Before), orDash(r.After), outcome(r)}
		_, err := fmt.Fprintln(w, row(cells))
		return err
	}, w.Flush
}

// outcome returns how an act ended. A row for failed sign-ins counts those of a minute.
func outcome(r admin.TrailRow) string {
	if r.Count > 1 {
		return fmt.Sprintf("%s, %d times", r.Outcome, r.Count)
	}
	return string(r.Outcome)
}

// parseSince reads a point in time, or how long before now it was.
func parseSince(s string) (time.Time, error) {
	var ago time.Duration
	// Set is that of a flag, so that a duration means the same here as everywhere.
	if config.Duration(&ago).Set(s) == nil {
		return time.Now().Add(-ago), nil
	}
	t, err := parseTime(s)
	if err != nil {
		return t, fmt.Errorf("%w, or how long ago, such as 24h or 7d", err)
	}
	return t, nil
}
