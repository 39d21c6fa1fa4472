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
		Long: "Credits and keys end by the clock. When it leaps ahead by more than an hour while the server runs, or is\n" +
			"behind what was written, it is in doubt: what ends by its age goes by the time that has passed, and work\n" +
			"goes on. The doubt ends when the clock is put right, or when an operator confirms that the new time is\n" +
			"right. That the server was off is no leap.",
	}
	show := &cobra.Command{
		Use: "show", Short: "tell whether the clock is in doubt", Example: "  imagegend clock show", Args: exactly(),
		RunE: a.administer(func(cmd *cobra.Command, s admin.Service, _ []string) error {
			clock, err := s.Clock(cmd.Context())
			if err != nil {
				return err
			}
			if clock.InDoubt {
				fmt.Fprintf(a.stdout, "in doubt: the clock %s; set it right, and if it is right now, run imagegend clock confirm\n", clock.Leap)
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
