package catalog

import (
	"errors"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/yamlfile"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// listed is a model with its place in the file.
type listed struct {
	engine.Model
	at *yaml.Node
}

// model reads one element of the list. Errors name the model by its id, if it has one.
func (s source) model(n *yaml.Node) (listed, error) {
	var block struct {
		engine.Model
		Provider provided
	}
	err := fillBlock(n, s.keys(reflect.ValueOf(&block).Elem()))
	m := block.Model
	m.Provider, m.Upstreams = block.Provider.Provider, block.Provider.upstreams
	if n.Kind == yaml.MappingNode {
		err = errors.Join(err, needs(n), bounded(n, m), linesAlone(n))
	}
	if err == nil {
		err = suits(n, m.Provider.Capabilities())
	}
	if err == nil {
		err = checkPrices(n, m, Policies[s.Policy])
	}
	if id := scalar(n, "id"); id != "" {
		err = yamlfile.Within(fmt.Sprintf("model %q", id), err)
	}
	return listed{m, n}, err
}

// needs refuses a model that lacks a key.
func needs(n *yaml.Node) error {
	var errs []error
	for _, need := range []struct{ key, words string }{
		{"id", "an id"},
		{"provider", "a provider, such as provider: {type: fake}"},
		{"credits", "prices, such as credits: {1K: 1, 2K: 2, 4K: 4}"},
	} {
		priced := need.key == "credits" && yamlfile.Lookup(n, "prices") != nil
		if value := yamlfile.Lookup(n, need.key); value == nil && !priced ||
			value != nil && value.Kind == yaml.MappingNode && len(value.Content) == 0 && need.key == "credits" {
			errs = append(errs, errAt(n, "a model needs %s", need.words))
		}
	}
	return errors.Join(errs...)
}

// bounded refuses a bound above the one that the service has for every model.
func bounded(n *yaml.Node, m engine.Model) error {
	references := 0
	if m.MaxReferences != nil {
		references = *m.MaxReferences
	}
	var errs []error
	for _, bound := range []struct {
		key       string
		got, most int
	}{
		{"max_references", references, imagegen.MaxReferences},
		{"max_images", m.MaxImages, imagegen.MaxImages},
		{"max_prompt", m.MaxPrompt, imagegen.MaxPromptRunes},
	} {
		if bound.got > bound.most {
			errs = append(errs, errAt(yamlfile.Lookup(n, bound.key), "%s is %d; it can be up to %d", bound.key,
				bound.got, bound.most))
		}
	}
	for _, t := range m.OnlyFor {
		if known, err := imagegen.ParseAccountType(t); err != nil || known != t {
			errs = append(errs, errAt(yamlfile.Lookup(n, "only_for"),
				"an account type is capital letters, digits and _, such as PRO; got %q", t))
		}
	}
	return errors.Join(errs...)
}

// checkAliases refuses an alias that is the id or the alias of a model already. lines holds the line of each name,
// and checkAliases adds the aliases to it.
func checkAliases(models []listed, lines map[string]int) error {
	var errs []error
	for _, m := range models {
		for i, alias := range m.Aliases {
			at := yamlfile.Lookup(m.at, "aliases").Content[i]
			if line, taken := lines[alias]; taken {
				errs = append(errs, fmt.Errorf("model %q: %w", m.ID,
					errAt(at, "aliases: %q names a model at line %d already; leave it out", alias, line)))
			} else if alias != "" {
				lines[alias] = at.Line
			}
		}
	}
	return errors.Join(errs...)
}
