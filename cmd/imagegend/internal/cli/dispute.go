package cli

import (
	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
)

func (a *app) generationDisputes() *cobra.Command {
	c := &cobra.Command{
		Use:     "disputes",
		Short:   "list generations whose charge the ledger refuses to close, oldest first",
		Example: "  imagegend generation disputes",
		Args:    exactly(),
	}
	asJSON := jsonFlag(c, "one JSON array")
	a.settings.DataFlags(c.Flags())
	c.RunE = a.administer(func(cmd *cobra.Command, s admin.Service, _ []string) error {
		all, err := s.Disputes(cmd.Context())
		if err != nil {
			return err
		}
		return list(a, *asJSON, all, []string{"ID", "USER", "CHARGED", "USED", "COMPLETED", "DISPUTE"}, func(d admin.Dispute) []any {
			return []any{d.ID, d.User, d.Charged, d.Used, when(d.CompletedAt), d.Dispute}
		})
	})
	return c
}

func (a *app) generationResolve() *cobra.Command {
	var how admin.Resolution
	c := &cobra.Command{
		Use:   "resolve ID --refund | --settle",
		Short: "end the dispute about the charge of a generation",
		Long: "Has the ledger close a charge that it refused to close: with --settle what the images cost is spent and the rest\n" +
			"goes back, with --refund all of it goes back. What the ledger does not know is charged there first. If it refuses again,\n" +
			"nothing changes: put its books right, then say so with --by-hand, and it is not asked.",
		Example: "  imagegend generation resolve gen_01J9Z3NDEKTSV4RRFFQ69G5FAV --refund",
		Args:    exactly("ID"),
	}
	asJSON := jsonFlag(c, "one JSON object")
	c.RunE = a.administer(func(cmd *cobra.Command, s admin.Service, args []string) error {
		how.Generation = args[0]
		d, err := s.Resolve(cmd.Context(), how)
		if err != nil {
			return err
		}
		return a.did(*asJSON, d, "the dispute about generation %s is resolved: of %s, %d are spent", d.ID, plural(d.Charged, "credit"), d.Used)
	})
	c.Flags().BoolVar(&how.Refund, "refund", false, "give everything back")
	// Nobody reads its value: it exists so that one of the two must be chosen, and neither is the default.
	c.Flags().Bool("settle", false, "what the images cost is spent")
	c.Flags().BoolVar(&how.ByHand, "by-hand", false, "the ledger was put right already: do not ask it")
	c.MarkFlagsOneRequired("refund", "settle")
	c.MarkFlagsMutuallyExclusive("refund", "settle")
	a.settings.DataFlags(c.Flags())
	return c
}
