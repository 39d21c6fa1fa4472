package catalog

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/yamlfile"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/nearest"
)

// provided is a provider with the upstreams that it asks, each as upstream describes it. Only the Provider in it is
// handed on, so it forwards no optional part.
type provided struct {
	imagegen.Provider
	upstreams []string
}

// provider reads a provider's block in three steps: its type decides which struct is filled, the other keys fill it,
// and the constructor makes the provider from it. An error of the constructor is rewritten in terms of the file.
func (s source) provider(n *yaml.Node) (provided, error) {
	name, kinds := scalar(n, "type"), s.kinds()
	begin, ok := kinds[name]
	types := slices.Sorted(maps.Keys(kinds))
	switch {
	case name == "":
		return provided{}, errAt(n, "provider needs a type, one of: %s; such as provider: {type: fake}",
			strings.Join(types, ", "))
	case !ok:
		return provided{}, errAt(n, "unknown type of provider %q%s", name, nearest.HintOrAll(name, types))
	}
	k := begin()
	known := s.keys(k.block)
	// The type was read above; fillBlock must accept it like any other key.
	known["type"] = func(*yaml.Node) error { return nil }
	if err := fillBlock(n, known); err != nil {
		return provided{}, err
	}
	p, err := k.make()
	if err != nil {
		return provided{}, explain(n, k.block.Type(), err)
	}
	// Only a router knows its upstreams itself.
	if p.upstreams == nil {
		p.upstreams = []string{upstream(n)}
	}
	return p, nil
}

// goName matches what may be the name of an exported field. explain replaces only those that the block has.
var goName = regexp.MustCompile(`\b[A-Z]\w*\b`)

// explain rewrites the error of a constructor, which names fields such as MaxPerCall: it names the key instead,
// max_per_call, and points at that key's line, or at the block's if the key is missing.
func explain(n *yaml.Node, block reflect.Type, err error) error {
	at, keys := n, keyNames(block)
	words := goName.ReplaceAllStringFunc(err.Error(), func(word string) string {
		key, ok := keys[word]
		if !ok {
			return word
		}
		for part := range strings.SplitSeq(key, " or ") {
			if value := yamlfile.Lookup(n, part); value != nil && at == n {
				at = value
			}
		}
		return key
	})
	return errAt(at, "%s", words)
}

// keyNames maps the names of the fields of a block, and of the structs in it, to their keys. A secret has two
// possible keys.
func keyNames(block reflect.Type) map[string]string {
	all := map[string]string{}
	for field := range block.Fields() {
		key := keyOf(field)
		if field.Type.Kind() == reflect.Struct {
			maps.Copy(all, keyNames(field.Type))
		}
		if field.Type == reflect.TypeFor[imagegen.Secret]() {
			key = key + "_env or " + key + "_file"
		}
		all[field.Name] = key
	}
	return all
}
