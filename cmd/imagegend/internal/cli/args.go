package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/imagegen"
)

// exactly wants one argument for each name.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
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
			return fmt.Errorf("one argument too many: %q; put quotes around what has spaces", args[len(names)])
		}
		return nil
	}
}

func required(c *cobra.Command, flag string) {
	if err := c.MarkFlagRequired(flag); err != nil {
		panic(err) // the flag was not declared
	}
}

func userFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "user", "", "`name` of the user")
	required(c, "user")
}

// misplacedUser points at --user when it is wanted and a name stands among the arguments instead.
func misplacedUser(cmd *cobra.Command, args []string) error {
	f := cmd.Flags().Lookup("user")
	if f == nil || f.Changed {
		return nil
	}
	for _, arg := range args {
		if first, _ := utf8.DecodeRuneInString(arg); unicode.IsLetter(first) { // an amount is no name
			return fmt.Errorf(`%s is missing; did you mean "--user %s"?`, withValue(f), arg)
		}
	}
	return nil
}

// amount is a number of credits on the command line.
type amount struct{ value *imagegen.Credits }

func (a *amount) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if c := imagegen.Credits(n); err != nil || !c.Valid() {
		return fmt.Errorf("an amount is a whole number of credits from 1 to %d", imagegen.MaxCredits)
	}
	*a.value = imagegen.Credits(n)
	return nil
}

func (a *amount) String() string { return strconv.FormatInt(int64(*a.value), 10) }
func (a *amount) Type() string   { return "number" }

// amountArg is an amount as the command's only argument.
func amountArg(to *imagegen.Credits) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := exactly("N")(cmd, args); err != nil {
			return err
		}
		err := (&amount{to}).Set(args[0])
		if err == nil {
			return nil
		}
		if misplaced := misplacedUser(cmd, args); misplaced != nil {
			return misplaced
		}
		return fmt.Errorf("%w; got %q%s", err, args[0], direction(args[0]))
	}
}

// direction tells who wrote a negative amount which command does what.
func direction(amount string) string {
	if !strings.HasPrefix(amount, "-") {
		return ""
	}
	return "; credit grant gives credits, credit revoke takes them back"
}

// priority is when a lot is consumed, on the command line.
type priority struct{ value *int }

func (p *priority) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 100 {
		return errors.New("a priority is a whole number from 1 to 100; lower is consumed first")
	}
	*p.value = n
	return nil
}

func (p *priority) String() string { return strconv.Itoa(*p.value) }
func (p *priority) Type() string   { return "number" }

// instant is a point in time on the command line.
type instant struct{ value *time.Time }

func (i *instant) Set(s string) (err error) {
	if *i.value, err = time.Parse(time.RFC3339, s); err != nil {
		return errors.New("write a time such as 2030-12-31T23:59:59Z")
	}
	return nil
}

func (i *instant) String() string {
	if i.value.IsZero() {
		return ""
	}
	return i.value.Format(time.RFC3339)
}

func (i *instant) Type() string { return "time" }

// status is how far a generation is, on the command line.
type status struct{ value *imagegen.Status }

func (s *status) Set(text string) error {
	if !slices.Contains(imagegen.Statuses(), imagegen.Status(text)) {
		return fmt.Errorf("choose from %s", strings.Join(s.Words(), ", "))
	}
	*s.value = imagegen.Status(text)
	return nil
}

// Words are what can be chosen, for completion.
func (s *status) Words() (words []string) {
	for _, status := range imagegen.Statuses() {
		words = append(words, string(status))
	}
	return words
}

func (s *status) String() string { return string(*s.value) }
func (s *status) Type() string   { return "word" }
