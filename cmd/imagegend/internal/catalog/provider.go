package catalog

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/internal/nearest"
)

// providers reads the block of each type of provider. The block has the key type and what else
// the type needs.
var providers = map[string]func(n *yaml.Node, o Options) (imagegen.Provider, error){
	"fake": parseFake,
}

func parseProvider(n *yaml.Node, o Options) (imagegen.Provider, error) {
	name := ""
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Kind == yaml.MappingNode && n.Content[i].Value == "type" {
			name = n.Content[i+1].Value
		}
	}
	parse, ok := providers[name]
	types := slices.Sorted(maps.Keys(providers))
	switch {
	case name == "":
		return nil, errAt(n, "provider needs a type, one of: %s; such as provider: {type: fake}", strings.Join(types, ", "))
	case !ok:
		return nil, errAt(n, "unknown type of provider %q%s; there are: %s", name, nearest.Hint(name, types), strings.Join(types, ", "))
	}
	return parse(n, o)
}

func parseFake(n *yaml.Node, o Options) (imagegen.Provider, error) {
	var kind string
	err := fields(n, map[string]setter{"type": text(&kind)})
	return &provider.Fake{AllowCrash: o.AllowCrash}, err
}
