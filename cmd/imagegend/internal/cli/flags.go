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

// flagError adds to an error about a flag what was probably meant. cobra calls it before it looks at the arguments,
// so the flag may be right, and the name of its command misspelt.
func flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); len(args) > 0 && cmd.HasAvailableSubCommands() {
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
	// To pflag a long flag with one dash is a group of one-letter flags, of which it does not know the first.
	if letters := e.GetSpecifiedShortnames(); letters != "" {
		if err := negativeArgument(cmd, "-"+letters); err != nil {
			return err
		}
		dashes = "-"
		name, _, _ = strings.Cut(letters, "=")
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	near := nearest.Field(name, known)
	if near == "" && !nearest.IsForeign(name) {
		near = name // hints at more than Field does
	}
	// The hint quotes the bare name; the dashes belong inside the quotes.
	hint := strings.Replace(nearest.Hint(near, known), `"`, `"--`, 1)
	return fmt.Errorf("unknown flag: %s%s%s", dashes, name, hint)
}

// negativeArgument returns what is wrong with a number below 0 as an argument; nil if s is not a number, or if the
// command would take it. pflag takes such a number for a flag, and its own error would be about an unknown shorthand.
func negativeArgument(cmd *cobra.Command, s string) error {
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		return nil
	}
	return cmd.ValidateArgs(append(slices.Clone(cmd.Flags().Args()), s))
}
