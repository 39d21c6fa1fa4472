package catalog

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/webapi"
)

func httpKind(s source) kind {
	var c webapi.Config
	k := keys{
		"name":           text(&c.Name),
		"base_url":       text(&c.BaseURL),
		"key_header":     text(&c.KeyHeader),
		"key_prefix":     text(&c.KeyPrefix),
		"headers":        headers(&c.Headers),
		"path":           text(&c.Path),
		"edit_path":      text(&c.EditPath),
		"input":          input(&c.Input),
		"edit_input":     input(&c.EditInput),
		"form":           oneOf(&c.Form, map[string]webapi.Form{"never": webapi.FormNever, "edits": webapi.FormEdits, "always": webapi.FormAlways}),
		"encoding":       oneOf(&c.Encoding, map[string]webapi.Encoding{"data_url": webapi.DataURL, "base64": webapi.Base64}),
		"upload":         upload(&c.Upload),
		"sizes":          sizes(&c.Sizes),
		"size_rules":     sizeRules(&c.SizeRules),
		"tier_names":     tiers(&c.TierNames, tierName),
		"ratio_names":    ratioNames(&c.RatioNames),
		"max_references": references(func(v int) { c.MaxReferences = v }),
		"max_per_call":   count(&c.MaxPerCall),
		"max_prompt":     maxPrompt(&c.MaxPrompt),
		"images":         texts(&c.Images),
		"errors":         texts(&c.Errors),
		"refusals":       texts(&c.Refusals),
		"statuses":       statuses(&c.Statuses),
		"imageless":      oneOf(&c.Imageless, classes),
		"probe":          text(&c.Probe),
		"image_hosts":    texts(&c.ImageHosts),
		"private":        yes(&c.Private),
	}
	s.secret(k, "key", &c.APIKey)
	return kind{keys: k, make: func() (imagegen.Provider, error) {
		if err := needKey(c.APIKey, c.Private); err != nil {
			return nil, err
		}
		return webapi.New(c)
	}}
}

// classes are those of errors, by the names that the documentation gives them.
var classes = map[string]imagegen.Class{"unknown": imagegen.ClassUnknown, "invalid": imagegen.ClassInvalid, "refused": imagegen.ClassRefused,
	"rate_limited": imagegen.ClassRateLimited, "unavailable": imagegen.ClassUnavailable, "unusable": imagegen.ClassUnusable}

// oneOf reads one of some names.
func oneOf[V any](to *V, named map[string]V) setter {
	return func(n *yaml.Node) error {
		v, ok := named[n.Value]
		if !ok {
			return errAt(n, "one of %s is wanted; got %q", strings.Join(slices.Sorted(maps.Keys(named)), ", "), n.Value)
		}
		*to = v
		return nil
	}
}

// upload reads where references are stored first.
func upload(to *webapi.Upload) setter {
	return func(n *yaml.Node) error {
		return fields(n, keys{"path": text(&to.Path), "field": text(&to.Field), "address": text(&to.Address)})
	}
}

// statuses reads what each status means.
func statuses(to *map[int]imagegen.Class) setter {
	return func(n *yaml.Node) error {
		return pairs(n, func(name, value *yaml.Node) error {
			status, err := strconv.Atoi(name.Value)
			if err != nil {
				return errAt(name, "a status such as 403 is wanted; got %q", name.Value)
			}
			var class imagegen.Class
			if err := oneOf(&class, classes)(value); err != nil {
				return err
			}
			if *to == nil {
				*to = map[int]imagegen.Class{}
			}
			(*to)[status] = class
			return nil
		})
	}
}

// headers reads headers that are sent as they are.
func headers(to *map[string]string) setter {
	return func(n *yaml.Node) error {
		return pairs(n, func(name, value *yaml.Node) error {
			var v string
			if err := text(&v)(value); err != nil {
				return err
			}
			if *to == nil {
				*to = map[string]string{}
			}
			(*to)[name.Value] = v
			return nil
		})
	}
}

// ratioNames reads what a ratio is called upstream.
func ratioNames(to *map[imagegen.Ratio]string) setter {
	return func(n *yaml.Node) error {
		*to = map[imagegen.Ratio]string{}
		known := keys{}
		for _, r := range imagegen.Ratios()[1:] {
			known[string(r)] = func(n *yaml.Node) (err error) { (*to)[r], err = tierName(n); return err }
		}
		return fields(n, known)
	}
}

// pairs hands over each name of a mapping with its value. A name that comes twice is an error.
func pairs(n *yaml.Node, take func(name, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return errAt(n, "names with values are wanted here")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		if seen[name.Value] {
			return errAt(name, "%q comes twice", name.Value)
		}
		seen[name.Value] = true
		if err := take(name, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}
