package yamlfile

import (
	"errors"
	"fmt"
	"iter"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/internal/nearest"
)

// mistake is an error at a place of a file.
type mistake struct {
	line, column int
	text         string
}

func (m *mistake) Error() string { return m.text }

// Mistake is an error at the place of n. Its text does not tell the place: InFile does.
func Mistake(n *yaml.Node, format string, args ...any) error {
	return &mistake{n.Line, n.Column, fmt.Sprintf(format, args...)}
}

// UnknownKey is the mistake of a key that is not among those known. It names the nearest of them.
func UnknownKey(key *yaml.Node, known []string) error {
	return Mistake(key, "unknown key %q%s", key.Value, nearest.HintOrAll(key.Value, known))
}

// InFile puts the file in front of an error, with line and column if it is a Mistake.
func InFile(path string, err error) error {
	if m, ok := errors.AsType[*mistake](err); ok {
		return fmt.Errorf("%s:%d:%d: %w", path, m.line, m.column, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Pairs are the keys of a mapping with their values; none for what is no mapping.
func Pairs(n *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// Lookup finds the value of a key; nil if there is none.
func Lookup(n *yaml.Node, key string) *yaml.Node {
	for k, value := range Pairs(n) {
		if k.Value == key {
			return value
		}
	}
	return nil
}
