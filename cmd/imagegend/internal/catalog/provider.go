package catalog

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/internal/nearest"
)

// kind is a type of provider: the keys of its block beside type, and what makes a provider of their
// values.
type kind struct {
	keys keys
	make func() (imagegen.Provider, error)

	members func() []string // the upstreams of a router; nil: the block itself is one
}

// kinds lists the types of providers. (A variable would depend on itself: a router has providers.)
func kinds() map[string]func(source) kind {
	return map[string]func(source) kind{
		"bfl":       bflKind,
		"comfyui":   comfyUIKind,
		"fake":      fakeKind,
		"fal":       falKind,
		"gemini":    geminiKind,
		"http":      httpKind,
		"openai":    openAIKind,
		"replicate": replicateKind,
		"router":    routerKind,
		"sdwebui":   sdWebUIKind,
	}
}

// provider makes a provider, and tells what upstreams it asks.
func (s source) provider(n *yaml.Node) (p imagegen.Provider, upstreams []string, err error) {
	name := scalar(n, "type")
	begin, ok := kinds()[name]
	types := slices.Sorted(maps.Keys(kinds()))
	switch {
	case name == "":
		return nil, nil, errAt(n, "provider needs a type, one of: %s; such as provider: {type: fake}", strings.Join(types, ", "))
	case !ok:
		return nil, nil, errAt(n, "unknown type of provider %q%s", name, nearest.HintOrAll(name, types))
	}
	k := begin(s)
	k.keys["type"] = text(&name)
	if err := refuseLiterals(n, k.keys); err != nil {
		return nil, nil, err
	}
	if err := fields(n, k.keys); err != nil {
		return nil, nil, err
	}
	if p, err = k.make(); err != nil {
		return nil, nil, explain(n, k.keys, err)
	}
	if k.members != nil {
		return p, k.members(), nil
	}
	return p, []string{upstream(n)}, nil
}

var (
	goName  = regexp.MustCompile(`\b[A-Z]+[a-z]\w*\b`)
	newWord = regexp.MustCompile(`([a-z])([A-Z])`)
)

// explain says what a provider's constructor says of a field, MaxPerCall, of the key, max_per_call,
// and at its line.
func explain(n *yaml.Node, known keys, err error) error {
	at, rules := n, sizeRuleKeys(&imagegen.SizeRules{})
	words := goName.ReplaceAllStringFunc(err.Error(), func(word string) string {
		key := strings.ToLower(newWord.ReplaceAllString(word, "${1}_$2"))
		if known[key+"_env"] != nil {
			key += "_env"
		}
		if known[key] == nil && rules[key] == nil {
			return word
		}
		if value := lookup(n, key); value != nil && at == n {
			at = value
		}
		return key
	})
	return errAt(at, "%s", words)
}

// fakeKind draws, or yields the same file for every image, to measure what surrounds the provider.
func fakeKind(s source) kind {
	fake := &provider.Fake{AllowCrash: s.AllowCrash}
	image := func(n *yaml.Node) (err error) {
		fake.Image, err = s.content(n)
		return err
	}
	return kind{keys: keys{"image": image}, make: func() (imagegen.Provider, error) { return fake, nil }}
}
