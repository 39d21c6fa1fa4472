package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Value is a setting as a flag has it: Parse reads it and Format shows it. It makes a pflag.Value of any type.
type Value[T any] struct {
	To     *T // holds the default
	Kind   string
	Parse  func(string) (T, error)
	Format func(T) string // nil: as it prints
}

func (v *Value[T]) Set(s string) error {
	parsed, err := v.Parse(s)
	if err == nil {
		*v.To = parsed
	}
	return err
}

func (v *Value[T]) String() string {
	if v.Format != nil {
		return v.Format(*v.To)
	}
	return fmt.Sprint(*v.To)
}

func (v *Value[T]) Type() string { return v.Kind }

// Choice is a value of a few words.
type Choice struct {
	pflag.Value
	Words []string // for completion
}

// NewChoice is one of some words; to holds the default.
func NewChoice[T ~string](to *T, words []T) *Choice {
	var names []string
	for _, w := range words {
		names = append(names, string(w))
	}
	return &Choice{&Value[T]{To: to, Kind: "word", Parse: func(s string) (T, error) {
		if !slices.Contains(names, s) {
			return "", fmt.Errorf("choose from %s", strings.Join(names, ", "))
		}
		return T(s), nil
	}}, names}
}

// list is a setting of several values, each of which parse reads.
type list[T any] struct {
	to    *[]T
	parse func(string) (T, error)
}

// Set takes what stands between commas, as a variable has it.
func (l *list[T]) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		if err := l.Append(part); err != nil {
			return err
		}
	}
	return nil
}

func (l *list[T]) Append(s string) error {
	v, err := l.parse(s)
	if err == nil {
		*l.to = append(*l.to, v)
	}
	return err
}

func (l *list[T]) Replace(values []string) error {
	*l.to = nil
	return l.Set(strings.Join(values, ","))
}

func (l *list[T]) GetSlice() (values []string) {
	for _, v := range *l.to {
		values = append(values, fmt.Sprint(v))
	}
	return values
}

func (l *list[T]) String() string { return strings.Join(l.GetSlice(), ",") }
func (l *list[T]) Type() string   { return "strings" }
