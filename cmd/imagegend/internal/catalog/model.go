package catalog

import (
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
	err := fill(n, s.keys(reflect.ValueOf(&block).Elem()))
	m := block.Model
	m.Provider, m.Upstreams = block.Provider.Provider, block.Provider.upstreams
	if err == nil {
		err = checkModel(n, m)
	}
	if id := scalar(n, "id"); err != nil && id != "" {
		err = fmt.Errorf("model %q: %w", id, err)
	}
	return listed{m, n}, err
}

// checkModel refuses what no single key shows: keys that are missing, and bounds above those of the service.
func checkModel(n *yaml.Node, m engine.Model) error {
	switch {
	case m.ID == "":
		return errAt(n, "a model needs an id")
	case m.Provider == nil:
		return errAt(n, "a model needs a provider, such as provider: {type: fake}")
	case len(m.Credits) == 0:
		return errAt(n, "a model needs prices, such as credits: {1K: 1, 2K: 2, 4K: 4}")
	case m.MaxReferences != nil && *m.MaxReferences > imagegen.MaxReferences:
		return tooMany(n, "max_references", imagegen.MaxReferences)
	case m.MaxImages > imagegen.MaxImages:
		return tooMany(n, "max_images", imagegen.MaxImages)
	case m.MaxPrompt > imagegen.MaxPromptRunes:
		return tooMany(n, "max_prompt", imagegen.MaxPromptRunes)
	}
	return suits(n, m.Provider.Capabilities())
}

// tooMany refuses a bound above the one that the service has for every model.
func tooMany(n *yaml.Node, key string, most int) error {
	value := yamlfile.Lookup(n, key)
	return errAt(value, "%s is %s; it can be up to %d", key, value.Value, most)
}

// checkAliases refuses an alias that is the id or the alias of a model already. lines holds the line of each name,
// and checkAliases adds the aliases to it.
func checkAliases(models []listed, lines map[string]int) error {
	for _, m := range models {
		for i, alias := range m.Aliases {
			at := yamlfile.Lookup(m.at, "aliases").Content[i]
			if line, taken := lines[alias]; taken {
				return fmt.Errorf("model %q: %w", m.ID, errAt(at, "aliases: %q names a model at line %d already; leave it out", alias, line))
			}
			lines[alias] = at.Line
		}
	}
	return nil
}
