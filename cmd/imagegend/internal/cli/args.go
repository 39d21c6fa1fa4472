package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen"
)

// exactly requires one argument for each name. If there are too many, it says so in terms of the likely mistake: a
// name that belongs behind --user, or a text whose quotes are missing.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		// A name too many is more likely a forgotten --user than a forgotten quote.
		if len(args) > len(names) {
			if err := misplacedUser(cmd, args); err != nil {
				return err
			}
		}
		switch {
		case len(args) < len(names):
			return fmt.Errorf("%s is missing", strings.Join(names[len(args):], " "))
		case len(args) > len(names) && len(names) == 0:
			return fmt.Errorf("no argument is wanted, got %q", args[0])
		case len(args) > len(names):
			return fmt.Errorf("one argument too many: %q; put quotes around an argument that has spaces",
				args[len(names)])
		}
		return nil
	}
}

// required makes cobra refuse the command line if a flag of c is missing. The flag must be declared.
func required(c *cobra.Command, flag string) {
	if err := c.MarkFlagRequired(flag); err != nil {
		panic(err) // the flag was not declared
	}
}

// userFlag declares --user, which is required.
func userFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "user", "", "`name` of the user")
	required(c, "user")
}

// misplacedUser returns an error that points at --user if the command wants it and a name is among the arguments
// instead; nil otherwise. A word that begins with a letter is taken for a name.
func misplacedUser(cmd *cobra.Command, args []string) error {
	f := cmd.Flags().Lookup("user")
	if f == nil || f.Changed {
		return nil
	}
	for _, arg := range args {
		if first, _ := utf8.DecodeRuneInString(arg); unicode.IsLetter(first) {
			return fmt.Errorf(`--user NAME is missing; did you mean "--user %s"?`, arg)
		}
	}
	return nil
}

// amount is the value of a flag, or of an argument: a number of credits from 1 to MaxCredits. to keeps what it holds
// until a valid amount is given.
func amount(to *imagegen.Credits) pflag.Value {
	return &config.Value[imagegen.Credits]{To: to, Kind: "number", Parse: func(s string) (imagegen.Credits, error) {
		n, err := strconv.ParseInt(s, 10, 64)
		if c := imagegen.Credits(n); err == nil && c.Valid() {
			return c, nil
		}
		return 0, fmt.Errorf("an amount is a whole number of credits from 1 to %d", imagegen.MaxCredits)
	}}
}

// amountArg requires an amount as the only argument and writes it to to. Of the mistakes that an argument can show,
// it names the one that was probably made.
func amountArg(to *imagegen.Credits) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := exactly("N")(cmd, args); err != nil {
			return err
		}
		// Set is that of a flag, so flags and arguments accept the same amounts.
		err := amount(to).Set(args[0])
		if err == nil {
			return nil
		}
		if misplaced := misplacedUser(cmd, args); misplaced != nil {
			return misplaced
		}
		if strings.HasPrefix(args[0], "-") {
			return fmt.Errorf("%w; got %q; credit grant gives credits, credit revoke takes them back", err, args[0])
		}
		return fmt.Errorf("%w; got %q", err, args[0])
	}
}

// parsePriority reads the priority of a lot. It refuses 0, which the ledger would take for the default.
func parsePriority(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 100 {
		return 0, errors.New("a priority is a whole number from 1 to 100; lower is consumed first")
	}
	return n, nil
}

// instant is the value of a flag: a point in time that parse reads; the zero time if the flag is not given. Help then
// shows no default.
func instant(to *time.Time, parse func(string) (time.Time, error)) pflag.Value {
	rfc3339 := func(t time.Time) string { return t.Format(time.RFC3339) }
	return &config.Value[time.Time]{To: to, Kind: "time", Parse: parse, Format: config.ZeroAs("", rfc3339)}
}

// parseTime requires a zone, so that a time means the same on every machine.
func parseTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, errors.New("write a time such as 2030-12-31T23:59:59Z")
	}
	return t, nil
}
