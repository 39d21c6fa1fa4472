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

// flagError adds to what is wrong with a flag what was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); len(args) > 0 && cmd.HasAvailableSubCommands() {
		return unknownCommand(cmd, args[0]) // the flag may be right for the command that was meant
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, e)
	}
	return err
}

// unknownFlag names the nearest flag that there is, also to who wrote one dash for two.
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
	hint := strings.Replace(nearest.Hint(name, known), `"`, `"--`, 1)
	return fmt.Errorf("unknown flag: %s%s%s", dashes, name, hint)
}

// negativeArgument says what is wrong with a number below 0, which is parsed as a flag, as the
// argument that it was meant to be.
func negativeArgument(cmd *cobra.Command, s string) error {
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		return nil
	}
	return cmd.ValidateArgs(append(slices.Clone(cmd.Flags().Args()), s))
}
