package cli

import (
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
			"right. Time while the server was off is no leap.",
	}
	c.AddCommand(a.clockShow(), a.clockConfirm())
	return parent(c)
}

func (a *app) clockShow() *cobra.Command {
	c := &cobra.Command{Use: "show", Short: "tell whether the clock is in doubt", Example: "  imagegend clock show", Args: exactly()}
	asJSON := jsonFlag(c, "one JSON object")
	a.settings.DataFlags(c.Flags())
	c.RunE = a.administer(func(cmd *cobra.Command, s admin.Service, _ []string) error {
		clock, err := s.Clock(cmd.Context())
		if err != nil {
			return err
		}
		if !clock.InDoubt {
			return a.did(*asJSON, clock, "trusted")
		}
		return a.did(*asJSON, clock, "in doubt: the clock %s; set it right, and if it is right now, run imagegend clock confirm", clock.Leap)
	})
	return c
}

func (a *app) clockConfirm() *cobra.Command {
	c := &cobra.Command{Use: "confirm", Short: "trust the clock as it is now", Example: "  date && imagegend clock confirm", Args: exactly()}
	asJSON := jsonFlag(c, "one JSON object")
	a.settings.DataFlags(c.Flags())
	c.RunE = a.administer(func(cmd *cobra.Command, s admin.Service, _ []string) error {
		if err := s.ConfirmClock(cmd.Context()); err != nil {
			return err
		}
		// The zero Clock is what clock show prints from now on.
		return a.did(*asJSON, admin.Clock{}, "the clock is trusted")
	})
	return c
}
