package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
)

// Value is a pflag.Value of any type: Parse reads it, and Format shows it, also as the default in the help.
type Value[T any] struct {
	To     *T // holds the default until Set
	Kind   string
	Parse  func(string) (T, error)
	Format func(T) string // nil: as fmt.Sprint shows it
}

// Set leaves the value as it was if the text cannot be read.
func (v *Value[T]) Set(s string) error {
	parsed, err := v.Parse(s)
	if err == nil {
		*v.To = parsed
	}
	return err
}

// String implements pflag.Value. pflag calls it when the flag is declared, to show the default in the help.
func (v *Value[T]) String() string {
	if v.Format != nil {
		return v.Format(*v.To)
	}
	return fmt.Sprint(*v.To)
}

// Type is the placeholder in the help, unless the usage names one in backquotes.
func (v *Value[T]) Type() string { return v.Kind }

// ZeroAs is a Format that shows the zero value as a word, which may be "", and others as format does.
func ZeroAs[T comparable](word string, format func(T) string) func(T) string {
	return func(v T) string {
		if v == *new(T) {
			return word
		}
		return format(v)
	}
}

// Choice is a value that is one of a few words. It has a type of its own so that shells can complete the words.
type Choice struct {
	pflag.Value
	Words []string // for completion
}

// NewChoice returns a value that is one of words. to holds the default.
func NewChoice[T ~string](to *T, words []T) *Choice {
	names := lists.Each(words, func(w T) string { return string(w) })
	return &Choice{&Value[T]{To: to, Kind: "word", Parse: func(s string) (T, error) {
		if !slices.Contains(names, s) {
			return "", fmt.Errorf("choose from %s", strings.Join(names, ", "))
		}
		return T(s), nil
	}}, names}
}

// list is a setting with several values, each read by parse. It implements pflag.SliceValue.
type list[T any] struct {
	to    *[]T
	parse func(string) (T, error)
}

// Set adds the values of a text, which commas separate. So --trusted-proxy can be repeated, and a variable can hold
// several. After an error the values before the wrong one were added; the command does not run then.
func (l *list[T]) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		if err := l.Append(part); err != nil {
			return err
		}
	}
	return nil
}

// Append adds one value.
func (l *list[T]) Append(s string) error {
	v, err := l.parse(s)
	if err == nil {
		*l.to = append(*l.to, v)
	}
	return err
}

// Replace implements pflag.SliceValue. It is for a list in a configuration file, whose elements may again hold several
// values.
func (l *list[T]) Replace(values []string) error {
	*l.to = nil
	return l.Set(strings.Join(values, ","))
}

// GetSlice implements pflag.SliceValue.
func (l *list[T]) GetSlice() []string {
	return lists.Each(*l.to, func(v T) string { return fmt.Sprint(v) })
}

func (l *list[T]) String() string { return strings.Join(l.GetSlice(), ",") }
func (l *list[T]) Type() string   { return "strings" }
