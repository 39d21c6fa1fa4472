package catalog

import (
	"fmt"
	"slices"

	"github.com/imagegend/imagegend/imagegen/engine"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/imagegen"
)

func (s source) model(n *yaml.Node) (engine.Model, error) {
	m := engine.Model{ID: scalar(n, "id")} // ahead of all else, so that every message can name it
	err := fields(n, keys{
		"id":             text(&m.ID),
		"provider":       func(n *yaml.Node) (err error) { m.Provider, m.Upstreams, err = s.provider(n); return err },
		"credits":        tiers(&m.Credits, price),
		"max_effort":     tiers(&m.MaxEffort, effort),
		"ratios":         each(func(n *yaml.Node) error { return appendRatio(&m.Ratios, n) }),
		"max_references": limit(func(v int) { m.MaxReferences = &v }, 0, imagegen.MaxReferences),
		"max_images":     limit(func(v int) { m.MaxImages = v }, 1, imagegen.MaxImages),
		"verify":         func(n *yaml.Node) (err error) { m.Verify, err = verification(n); return err },
		"max_prompt":     limit(func(v int) { m.MaxPrompt = v }, 1, imagegen.MaxPromptRunes),
		"max_concurrent": count(&m.MaxConcurrent),
		"retired":        yes(&m.Retired),
	})
	switch {
	case err != nil:
	case m.ID == "":
		err = errAt(n, "a model needs an id")
	case m.Provider == nil:
		err = errAt(n, "a model needs a provider, such as provider: {type: fake}")
	case len(m.Credits) == 0:
		err = errAt(n, "a model needs prices, such as credits: {1K: 1, 2K: 2, 4K: 4}")
	case !priced(m):
		return m, errAt(lookup(n, "credits"), "model %q has no price for any tier of its provider, which can do %v", m.ID, m.Provider.Capabilities().Tiers)
	default:
		err = suits(n, m.Provider.Capabilities())
	}
	if err != nil && m.ID != "" {
		return m, fmt.Errorf("model %q: %w", m.ID, err)
	}
	return m, err
}

// tiers reads a mapping from tiers to values.
func tiers[V any](to *map[imagegen.Tier]V, value func(*yaml.Node) (V, error)) setter {
	return func(n *yaml.Node) error {
		*to = map[imagegen.Tier]V{}
		known := keys{}
		for _, t := range imagegen.Tiers() {
			known[string(t)] = func(n *yaml.Node) (err error) {
				(*to)[t], err = value(n)
				return err
			}
		}
		return fields(n, known)
	}
}

func price(n *yaml.Node) (imagegen.Credits, error) {
	var c imagegen.Credits
	err := whole(&c)(n)
	if err == nil && !c.Valid() {
		err = errAt(n, "a price is a whole number of credits, from 1; got %d", c)
	}
	if _, over := c.Times(imagegen.MaxImages); err == nil && over != nil {
		err = errAt(n, "%d images at %d credits are more than an account can hold", imagegen.MaxImages, c)
	}
	return c, err
}

func effort(n *yaml.Node) (imagegen.Quality, error) {
	q := imagegen.Quality(n.Value)
	if !slices.Contains(imagegen.Qualities(), q) {
		return "", errAt(n, "an effort is one of %v; got %q", imagegen.Qualities(), n.Value)
	}
	return q, nil
}

func verification(n *yaml.Node) (imagegen.Verification, error) {
	v := imagegen.Verification(n.Value)
	if !slices.Contains(imagegen.Verifications(), v) {
		return "", errAt(n, "a verification is one of %v; got %q", imagegen.Verifications(), n.Value)
	}
	return v, nil
}

func appendRatio(to *[]imagegen.Ratio, n *yaml.Node) error {
	r := imagegen.Ratio(n.Value)
	if !slices.Contains(imagegen.Ratios(), r) {
		return errAt(n, "a ratio is one of %v; got %q", imagegen.Ratios(), n.Value)
	}
	*to = append(*to, r)
	return nil
}

// limit reads a whole number within bounds.
func limit(set func(int), least, most int) setter {
	return func(n *yaml.Node) error {
		var v int
		if err := whole(&v)(n); err != nil {
			return err
		}
		if v < least || v > most {
			return errAt(n, "it lies between %d and %d; got %d", least, most, v)
		}
		set(v)
		return nil
	}
}
