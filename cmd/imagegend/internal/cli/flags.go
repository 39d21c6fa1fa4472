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

// flagError says in plain words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); len(args) > 0 && cmd.HasAvailableSubCommands() {
		return unknownCommand(cmd, args[0]) // the flag may be right for the command that was meant
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, e)
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("the value of %s is missing", withValue(e.GetFlag()))
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return wrongValue(e)
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

func wrongValue(e *pflag.InvalidValueError) error {
	f, cause := e.GetFlag(), errors.Unwrap(e)
	if f.Value.Type() == "bool" {
		cause = errors.New("write true or false")
	}
	return fmt.Errorf("--%s %q: %w", f.Name, e.GetValue(), cause)
}

// withValue is a flag and what belongs behind it: "--user NAME".
func withValue(f *pflag.Flag) string {
	kind, _ := pflag.UnquoteUsage(f)
	if kind == strings.ToLower(kind) {
		kind = strings.ToUpper(kind)
	}
	return "--" + f.Name + " " + kind
}

// missingFlag is cobra's check of required flags in plain words.
func missingFlag(fs *pflag.FlagSet) error {
	var missing []string
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[cobra.BashCompOneRequiredFlag] != nil && !f.Changed {
			missing = append(missing, withValue(f))
		}
	})
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s is missing", missing[0])
	}
	return fmt.Errorf("%s are missing", strings.Join(missing, " and "))
}

// exclusive is where cobra keeps which flags exclude each other: groups of names with spaces between.
const exclusive = "cobra_annotation_mutually_exclusive"

// exclusiveFlags is cobra's check of flags that exclude each other in plain words.
func exclusiveFlags(fs *pflag.FlagSet) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		for _, group := range f.Annotations[exclusive] {
			for other := range strings.FieldsSeq(group) {
				if other > f.Name && fs.Changed(other) { // each pair once
					err = fmt.Errorf("--%s and --%s exclude each other; give one of them", f.Name, other)
				}
			}
		}
	})
	return err
}
