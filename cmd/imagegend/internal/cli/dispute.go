package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// generationDisputesCommand lists what generationResolveCommand can resolve. A ledger in the data directory or the
// database closes every charge that it made; disputes come from another ledger, or from work that was moved from one
// ledger to another.
func (a *app) generationDisputesCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "disputes",
		Short:   "list generations whose charge the ledger refuses to close, oldest first",
		Example: "  imagegend generation disputes",
	}
	// CHARGED goes back with --refund. With --settle, USED is spent and only the rest goes back.
	listing(a, c, calling(admin.ListDisputes, &admin.None{}), []string{"ID", "USER", "CHARGED", "USED", "COMPLETED",
		"DISPUTE"}, func(d admin.Dispute) []any {
		return []any{d.ID, d.User, d.Charged, d.Used, when(d.CompletedAt), d.Dispute}
	})
	return c
}

// generationResolveCommand needs a decision from the operator: the owner of the generation has seen how it ended, and
// only the charge is open. A failure changes nothing, and the command can be repeated.
func (a *app) generationResolveCommand() *cobra.Command {
	var how admin.Resolution
	c := &cobra.Command{
		Use:   "resolve ID --refund | --settle",
		Short: "end the dispute about the charge of a generation",
		Long: "Asks the ledger again to close a charge that it refused to close. --settle spends what the images cost and gives\n" +
			"the rest back, --refund gives everything back. If the ledger does not know the charge, it is made there first. If the\n" +
			"ledger refuses again, nothing changes: put its books right, then repeat the command with --by-hand, which does not\n" +
			"ask the ledger.",
		Example: "  imagegend generation resolve gen_01J9Z3NDEKTSV4RRFFQ69G5FAV --refund",
		Args:    exactly("ID"),
	}
	changing(a, c, admin.ResolveDispute, &how, &how.Generation, func(d admin.Dispute) string {
		return fmt.Sprintf("the dispute about generation %s is resolved: of %s, %d are spent", d.ID,
			plural(d.Charged, "credit"), d.Used)
	})
	c.Flags().BoolVar(&how.Refund, "refund", false, "give everything back")
	// Nobody reads its value: it exists so that one of the two must be chosen, and neither is the default.
	c.Flags().Bool("settle", false, "spend what the images cost, and give the rest back")
	c.Flags().BoolVar(&how.ByHand, "by-hand", false, "the ledger was put right already: do not ask it")
	c.MarkFlagsOneRequired("refund", "settle")
	c.MarkFlagsMutuallyExclusive("refund", "settle")
	return c
}
