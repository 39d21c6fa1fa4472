package catalog

import (
	"cmp"
	"errors"
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

// fillBlock hands each value of a block to the setter of its key, and returns the errors of all of them.
func fillBlock(n *yaml.Node, known map[string]setter) error {
	names := slices.Sorted(maps.Keys(known))
	if n.Kind != yaml.MappingNode {
		return errAt(n, "keys are wanted here: %v", names)
	}
	var errs []error
	for key, value := range yamlfile.Pairs(n) {
		set, ok := known[key.Value]
		// A key that holds a secret is unknown too, and that error would not say what to do.
		if err := refuseLiteral(key, known); err != nil {
			errs = append(errs, err)
		} else if !ok {
			errs = append(errs, yamlfile.UnknownKey(key, names))
		} else {
			errs = append(errs, yamlfile.Within(key.Value, set(value)))
		}
	}
	return errors.Join(errs...)
}

// keys returns the keys of a block: one for each field of the struct that it fills, all of which must be exported. A
// key is the field's name in words, max_per_call for MaxPerCall, unless otherKeys has another one. A number begins at
// 1, since 0 means that the key is absent, unless zeros has the field.
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
		switch to, isSecret := value.Addr().Interface().(*imagegen.Secret); {
		case isSecret:
			known[name+"_env"], known[name+"_file"] = secret(name, to, s.variable), secret(name, to, s.secretFile)
		case field.Anonymous:
			maps.Copy(known, s.keys(value)) // fields that follow replace those of the same name
		case name != noKey:
			zero := zeros[block.Type().String()+"."+field.Name]
			known[name] = func(n *yaml.Node) error { return s.readValue(n, value, zero) }
		}
	}
	return known
}

// noKey is the key of a field that has none.
const noKey = "-"

// otherKeys are the keys of fields, in any block, that do not follow from their names.
var otherKeys = map[string]string{"APIKey": "key", "Log": noKey, "Price": noKey, "Token": noKey, "Upstream": noKey,
	"Upstreams": noKey}

// zeros are what the number 0 becomes in the fields that allow it.
var zeros = map[string]*int64{
	"bfl.Config.MaxReferences": new(int64(-1)), "gemini.Config.MaxReferences": new(int64(-1)),
	"openai.Config.MaxReferences": new(int64(-1)), "provider.Template.MaxReferences": new(int64(0)),
	"router.Config.Retries": new(int64(0)), "router.Member.Weight": new(int64(0)),
}

// newWord matches where a word begins within the name of a field.
var newWord = regexp.MustCompile(`([a-z])([A-Z])`)

// keyOf returns the key of a field.
func keyOf(f reflect.StructField) string {
	return cmp.Or(otherKeys[f.Name], strings.ToLower(newWord.ReplaceAllString(f.Name, "${1}_$2")))
}

// readValue reads a value into a field; zero is as for readInt. The order matters: a type with a vocabulary or a reader
// of its own has a kind, such as string or int64, that would also accept what the type does not.
func (s source) readValue(n *yaml.Node, to reflect.Value, zero *int64) error {
	if n.Kind == yaml.AliasNode {
		return errAt(n, "an alias has no place here; write the value itself")
	}
	if words, ok := vocabulary[to.Type()]; ok {
		return words.readWord(n, to)
	}
	if done, err := s.readSpecial(n, to.Addr().Interface(), zero); done {
		return err
	}
	switch to.Kind() {
	case reflect.Struct:
		return fillBlock(n, s.keys(to))
	case reflect.Pointer: // nil means that the key is absent, so 0 is an ordinary number here
		to.Set(reflect.New(to.Type().Elem()))
		return s.readValue(n, to.Elem(), new(int64(0)))
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
	return readInt(n, to, zero)
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
	var errs []error
	for i, element := range n.Content {
		errs = append(errs, s.readValue(element, to.Index(i), nil))
	}
	return errors.Join(errs...)
}

// eachPair reads a mapping from names to values into a map.
func (s source) eachPair(n *yaml.Node, to reflect.Value) error {
	if n.Kind != yaml.MappingNode {
		return errAt(n, "names with values are wanted here")
	}
	to.Set(reflect.MakeMap(to.Type()))
	var errs []error
	for name, value := range yamlfile.Pairs(n) {
		k, v := reflect.New(to.Type().Key()).Elem(), reflect.New(to.Type().Elem()).Elem()
		errs = append(errs, s.readValue(name, k, nil), yamlfile.Within(name.Value, s.readValue(value, v, nil)))
		to.SetMapIndex(k, v)
	}
	return errors.Join(errs...)
}
