package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// generationListCommand shows no prompts, so the audit trail need not record that somebody looked. --limit bounds what
// is read, and there is no next page: somebody who wants older generations asks for more, and learns that there are
// some.
func (a *app) generationListCommand() *cobra.Command {
	q := admin.GenerationQuery{Limit: imagegen.DefaultPageSize}
	c := &cobra.Command{
		Use:   "list",
		Short: "list the newest generations",
		Long:  "Lists the newest generations, of one user or of all, without their prompts; generation show shows one with its prompt.",
		Example: "  imagegend generation list --status failed\n" +
			"  imagegend generation list --user alice --limit 100",
	}
	c.Flags().StringVar(&q.User, "user", "", "only those of this `name`")
	c.Flags().Var(config.NewChoice(&q.Status, imagegen.Statuses()), "status",
		"only those that are queued, processing, succeeded or failed")
	c.Flags().Var(config.Count(&q.Limit), "limit", "how many to list")
	newest := func(ctx context.Context, s admin.Caller) ([]admin.GenerationLine, error) {
		oneMore := q
		oneMore.Limit++
		all, err := admin.ListGenerations.Do(ctx, s, oneMore)
		if len(all) > q.Limit {
			all = all[:q.Limit]
			fmt.Fprintf(a.stderr, "these are the newest %d; --limit lists more\n", q.Limit)
		}
		return all, err
	}
	listing(a, c, newest, []string{"ID", "USER", "STATUS", "MODEL", "IMAGES", "CREDITS", "CREATED", "COMPLETED"},
		func(g admin.GenerationLine) []any {
			// What came, of what was asked for; and what was spent, of what was charged. Nothing is spent before the
			// end.
			return []any{g.ID, g.User, g.Status, g.Model, fmt.Sprintf("%d of %d", g.Images, g.N),
				fmt.Sprintf("%d of %d", g.Credits, g.CreditsRequested), when(g.CreatedAt), when(g.CompletedAt)}
		})
	return c
}
