package catalog

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/internal/nearest"
)

// setter takes the value of one key.
type setter func(value *yaml.Node) error

// keys are the keys of a block.
type keys map[string]setter

// lineError is an error at a line of the file.
type lineError struct {
	line int
	text string
}

func (e *lineError) Error() string { return e.text }

func errAt(n *yaml.Node, format string, args ...any) error {
	return &lineError{n.Line, fmt.Sprintf(format, args...)}
}

// fields hands each value of a mapping to the setter of its key. Other keys, and a key that comes
// twice, are errors. (yaml's own KnownFields is lost below a node, and its errors speak of Go types.)
func fields(n *yaml.Node, known keys) error {
	if n.Kind != yaml.MappingNode {
		return errAt(n, "keys are wanted here: %v", slices.Sorted(maps.Keys(known)))
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		set, ok := known[key.Value]
		switch {
		case !ok:
			return errAt(key, "unknown key %q%s", key.Value, nearest.HintOrAll(key.Value, slices.Sorted(maps.Keys(known))))
		case seen[key.Value]:
			return errAt(key, "key %q comes twice", key.Value)
		}
		seen[key.Value] = true
		if err := set(value); err != nil {
			return fmt.Errorf("%s: %w", key.Value, err)
		}
	}
	return nil
}

// lookup finds the value of a key; nil if there is none.
func lookup(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// scalar is the plain value of a key; "" if there is none.
func scalar(n *yaml.Node, key string) string {
	if value := lookup(n, key); value != nil {
		return value.Value
	}
	return ""
}

// each hands every element of a list to set. An empty list would count as one that is left out.
func each(set setter) setter {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.SequenceNode {
			return errAt(n, "a list is wanted here")
		}
		if len(n.Content) == 0 {
			return errAt(n, "the list is empty")
		}
		for _, element := range n.Content {
			if err := set(element); err != nil {
				return err
			}
		}
		return nil
	}
}
