package yamlfile

import (
	"errors"
	"fmt"
	"iter"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/internal/nearest"
)

// mistake is an error at a place in a file. Its text leaves the place out, so that callers can add to it what they
// know.
type mistake struct {
	line, column int
	text         string
}

func (m *mistake) Error() string { return m.text }

// Mistake returns an error at the place of n. Its text does not name the place; InFile adds that.
func Mistake(n *yaml.Node, format string, args ...any) error {
	return &mistake{n.Line, n.Column, fmt.Sprintf(format, args...)}
}

// UnknownKey returns the mistake of a key that is not among the known ones. It names the nearest, or all of them.
func UnknownKey(key *yaml.Node, known []string) error {
	return Mistake(key, "unknown key %q%s", key.Value, nearest.HintOrAll(key.Value, known))
}

// InFile puts the file in front of each joined error and, if the error is or wraps a Mistake, line and column. It
// belongs where the file was opened, so that it is done once.
func InFile(path string, err error) error {
	return each(err, func(err error) error {
		if m, ok := errors.AsType[*mistake](err); ok {
			return fmt.Errorf("%s:%d:%d: %w", path, m.line, m.column, err)
		}
		return fmt.Errorf("%s: %w", path, err)
	})
}

// Within puts the name of a part of the file in front of each joined error.
func Within(name string, err error) error {
	return each(err, func(err error) error { return fmt.Errorf("%s: %w", name, err) })
}

// each applies change to each of the errors that errors.Join has joined in err, at any depth.
func each(err error, change func(error) error) error {
	joined, several := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !several:
		return change(err)
	}
	var errs []error
	for _, one := range joined.Unwrap() {
		errs = append(errs, each(one, change))
	}
	return errors.Join(errs...)
}

// Pairs iterates over the keys of a mapping with their values. A node that is not a mapping has none.
func Pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// Lookup returns the value of a key; nil if the key is absent.
func Lookup(n *yaml.Node, key string) *yaml.Node {
	for k, value := range Pairs(n) {
		if k.Value == key {
			return value
		}
	}
	return nil
}
