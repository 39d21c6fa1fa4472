package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/imagegend/imagegend/internal/nearest"
)

// flagError adds to an error about a flag what was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); len(args) > 0 && cmd.HasAvailableSubCommands() {
		// The command is wrong; the flag may be right for the one that was meant.
		return unknownCommand(cmd, args[0])
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, e)
	}
	return err
}

// unknownFlag names the nearest flag, also if a long flag was written with one dash.
func unknownFlag(cmd *cobra.Command, e *pflag.NotExistError) error {
	dashes, name := "--", e.GetSpecifiedName()
	if letters := e.GetSpecifiedShortnames(); letters != "" {
		if err := negativeArgument(cmd, "-"+letters); err != nil {
			return err
		}
		dashes = "-"
		name, _, _ = strings.Cut(letters, "=")
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	// The hint quotes the bare name; the dashes belong inside the quotes.
	hint := strings.Replace(nearest.Hint(name, known), `"`, `"--`, 1)
	return fmt.Errorf("unknown flag: %s%s%s", dashes, name, hint)
}

// negativeArgument returns what is wrong with a number below 0 as an argument. pflag takes it for a flag, and its own
// error would speak of an unknown shorthand.
func negativeArgument(cmd *cobra.Command, s string) error {
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		return nil
	}
	return cmd.ValidateArgs(append(slices.Clone(cmd.Flags().Args()), s))
}
