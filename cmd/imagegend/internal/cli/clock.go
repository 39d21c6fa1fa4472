package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
)

func (a *app) clock() *cobra.Command {
	c := &cobra.Command{
		Use:   "clock",
		Short: "show or confirm the time after a leap of the clock",
		Long: "Credits lapse by the clock. When it leaps ahead by more than 24 hours between two operations, or the\n" +
			"server was off for so long, nothing lapses and nothing is erased by its age, and the server tells that\n" +
			"it is not ready, until an operator confirms that the new time is right.",
	}
	show := &cobra.Command{
		Use: "show", Short: "tell whether the clock is in doubt", Example: "  imagegend clock show", Args: exactly(),
		RunE: a.administer(func(cmd *cobra.Command, s admin.Service, _ []string) error {
			clock, err := s.Clock(cmd.Context())
			if err != nil {
				return err
			}
			if clock.InDoubt {
				fmt.Fprintf(a.stdout, "in doubt: the clock leapt ahead by %s; if the time is right now, run imagegend clock confirm\n", clock.Jump)
			} else {
				fmt.Fprintln(a.stdout, "trusted")
			}
			return nil
		}),
	}
	confirm := &cobra.Command{
		Use: "confirm", Short: "trust the clock as it is now", Example: "  date && imagegend clock confirm", Args: exactly(),
		RunE: a.administer(func(cmd *cobra.Command, s admin.Service, _ []string) error {
			if err := s.ConfirmClock(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintln(a.stdout, "the clock is trusted")
			return nil
		}),
	}
	a.settings.DataDirFlag(show.Flags())
	a.settings.DataDirFlag(confirm.Flags())
	c.AddCommand(show, confirm)
	return parent(c)
}
