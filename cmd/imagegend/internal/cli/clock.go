package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// clockCommand is for an operator whose log or console says that the clock is in doubt. Nobody else can decide whether
// a leap was a mistake or its correction.
func (a *app) clockCommand() *cobra.Command {
	return parent(&cobra.Command{
		Use:   "clock",
		Short: "show or confirm the time after a leap of the clock",
		Long: "Credits and keys expire by the clock. If it leaps ahead by more than an hour while the server runs, or is\n" +
			"behind what was written, it is in doubt. As long as it is, credits, keys and everything else that ends by its\n" +
			"age go by the time that has passed, and work goes on. The doubt ends when the clock is put right, or when an\n" +
			"operator confirms that the new time is right. Time that passes while the server is off is not a leap.",
	}, a.clockShowCommand(), a.clockConfirmCommand())
}

// clockShowCommand exits with status 0 whether or not the clock is in doubt: the question was answered. Scripts read
// --json.
func (a *app) clockShowCommand() *cobra.Command {
	c := &cobra.Command{Use: "show", Short: "tell whether the clock is in doubt", Example: "  imagegend clock show"}
	answering(a, c, calling(admin.GetClock, &admin.None{}), func(clock admin.Clock) string {
		if !clock.InDoubt {
			return "trusted"
		}
		return fmt.Sprintf("in doubt: the clock %s; set it right, and if it is right now, run imagegend clock confirm",
			clock.Leap)
	})
	return c
}

// clockConfirmCommand cannot be undone: what has expired by the confirmed time is gone.
func (a *app) clockConfirmCommand() *cobra.Command {
	c := &cobra.Command{Use: "confirm", Short: "trust the clock as it is now",
		Example: "  date && imagegend clock confirm"}
	confirm := func(ctx context.Context, s admin.Caller) (admin.Clock, error) {
		_, err := admin.ConfirmClock.Do(ctx, s, admin.None{})
		return admin.Clock{}, err // what clock show prints from now on
	}
	answering(a, c, confirm, func(admin.Clock) string { return "the clock is trusted" })
	return c
}
