package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/yamlfile"
	"github.com/imagegend/imagegend/imagegen"
)

// errAt returns an error at the place of a node.
var errAt = yamlfile.Mistake

// setter takes the value of one key. Most write it to a field of the struct that the block fills.
type setter func(value *yaml.Node) error

// fill hands each value of a block to the setter of its key. It stops at the first error.
func fill(n *yaml.Node, known map[string]setter) error {
	names := slices.Sorted(maps.Keys(known))
	if n.Kind != yaml.MappingNode {
		return errAt(n, "keys are wanted here: %v", names)
	}
	// Secrets come first, since the keys that hold them are unknown, and that error would not say what to do.
	if err := refuseLiterals(n, known); err != nil {
		return err
	}
	for key, value := range yamlfile.Pairs(n) {
		set, ok := known[key.Value]
		if !ok {
			return yamlfile.UnknownKey(key, names)
		}
		if err := set(value); err != nil {
			return fmt.Errorf("%s: %w", key.Value, err)
		}
	}
	return nil
}

// keys returns the keys of a block: one for each field of the struct that it fills, all of which must be exported. A
// key is the field's name in words, max_per_call for MaxPerCall. Tags say more:
//
//	yaml:"key"   another name; "-": no key
//	zero:"-1"    what the number 0 becomes; without it a number begins at 1, since 0 means that the key is absent
//
// A Secret has two keys, NAME_env and NAME_file. The fields of an embedded struct are keys of the block. Errors name
// place and key: an unknown key, an empty text or list, and a value of another type.
//
// (yaml's own decoder does not suffice: below a node it ignores KnownFields, it cuts 1.5 down to 1, and its errors
// speak of Go types.)
func (s source) keys(block reflect.Value) map[string]setter {
	known := map[string]setter{}
	for field, value := range block.Fields() {
		name := keyOf(field)
		switch to := value.Addr().Interface().(type) {
		case *imagegen.Secret:
			known[name+"_env"], known[name+"_file"] = secret(name, to, s.variable), secret(name, to, s.secretFile)
		default:
			switch {
			case field.Anonymous:
				maps.Copy(known, s.keys(value)) // fields that follow replace those of the same name
			case name != "-":
				known[name] = func(n *yaml.Node) error { return s.read(n, value, field.Tag) }
			}
		}
	}
	return known
}

// newWord matches where a word begins within the name of a field.
var newWord = regexp.MustCompile(`([a-z])([A-Z])`)

// keyOf returns the key of a field.
func keyOf(f reflect.StructField) string {
	return cmp.Or(f.Tag.Get("yaml"), strings.ToLower(newWord.ReplaceAllString(f.Name, "${1}_$2")))
}

// read reads a value into a field. The order matters: a type with a vocabulary or a reader of its own has a kind,
// such as string or int64, that would also accept what the type does not.
func (s source) read(n *yaml.Node, to reflect.Value, tag reflect.StructTag) error {
	if n.Kind == yaml.AliasNode {
		return errAt(n, "an alias has no place here; write the value itself")
	}
	if words, ok := vocabulary[to.Type()]; ok {
		return words.read(n, to)
	}
	if done, err := s.readSpecial(n, to.Addr().Interface()); done {
		return err
	}
	switch to.Kind() {
	case reflect.Struct:
		return fill(n, s.keys(to))
	case reflect.Pointer: // nil means that the key is absent, so 0 is an ordinary number here
		to.Set(reflect.New(to.Type().Elem()))
		return s.read(n, to.Elem(), tag+` zero:"0"`)
	case reflect.Slice:
		return s.each(n, to)
	case reflect.Map:
		return s.eachPair(n, to)
	case reflect.String:
		return readText(n, to)
	case reflect.Bool:
		return readBool(n, to)
	case reflect.Float64:
		return readNumber(n, to)
	}
	return readInt(n, to, tag)
}

// each reads a list. An empty list is refused: it would count as absent, and for ratios, say, that means all of them.
func (s source) each(n *yaml.Node, to reflect.Value) error {
	if n.Kind != yaml.SequenceNode {
		return errAt(n, "a list is wanted here")
	}
	if len(n.Content) == 0 {
		return errAt(n, "the list is empty")
	}
	to.Set(reflect.MakeSlice(to.Type(), len(n.Content), len(n.Content)))
	for i, element := range n.Content {
		if err := s.read(element, to.Index(i), ""); err != nil {
			return err
		}
	}
	return nil
}

// eachPair reads a mapping from names to values into a map.
func (s source) eachPair(n *yaml.Node, to reflect.Value) error {
	if n.Kind != yaml.MappingNode {
		return errAt(n, "names with values are wanted here")
	}
	to.Set(reflect.MakeMap(to.Type()))
	for name, value := range yamlfile.Pairs(n) {
		k, v := reflect.New(to.Type().Key()).Elem(), reflect.New(to.Type().Elem()).Elem()
		if err := s.read(name, k, ""); err != nil {
			return err
		}
		if err := s.read(value, v, ""); err != nil {
			return fmt.Errorf("%s: %w", name.Value, err)
		}
		to.SetMapIndex(k, v)
	}
	return nil
}
