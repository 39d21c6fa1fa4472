// Package yamlfile reads files of YAML, and says where in a file a mistake stands.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// Document returns the root of a file's text, nil if nothing stands in it. A second document and a key that
// comes twice are errors. (yaml.Unmarshal passes over every document but the first.)
func Document(text []byte) (*yaml.Node, error) {
	var first, second yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	err := d.Decode(&first)
	if err == nil {
		err = d.Decode(&second)
	}
	switch {
	case err == nil:
		return nil, Mistake(&second, "a second YAML document begins here; write all into the first, without ---")
	case !errors.Is(err, io.EOF):
		return nil, noYAML(err)
	case len(first.Content) == 0:
		return nil, nil
	}
	return first.Content[0], checkKeys(first.Content[0])
}

// checkKeys refuses a key that comes twice, wherever it stands.
func checkKeys(n *yaml.Node) error {
	lines := map[string]int{}
	for key := range Pairs(n) {
		if line, twice := lines[key.Value]; twice {
			return Mistake(key, "key %q stands at line %d already", key.Value, line)
		}
		lines[key.Value] = key.Line
	}
	for _, part := range n.Content {
		if err := checkKeys(part); err != nil {
			return err
		}
	}
	return nil
}

// yamlWords take apart what the parser says. Its line can be one too low.
var yamlWords = regexp.MustCompile(`(?s)yaml: (?:line (\d+): )?(.*)`)

// noYAML says in plain words why a text is no YAML.
func noYAML(err error) error {
	said := yamlWords.FindStringSubmatch(err.Error())
	switch {
	case said == nil:
		return err
	case said[1] == "":
		return errors.New("this is not YAML: " + said[2])
	}
	return fmt.Errorf("this is not YAML near line %s: %s", said[1], said[2])
}
