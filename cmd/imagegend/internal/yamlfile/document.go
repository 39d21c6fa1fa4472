// Package yamlfile reads YAML files strictly, as nodes, and says in errors where in the file a mistake is. It serves
// both imagegend.yaml and models.yaml.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"go.yaml.in/yaml/v3"
)

// Document returns the root node of a file's text; nil if the file is empty. A second document and a key that comes
// twice are errors. (yaml.Unmarshal ignores every document but the first.)
func Document(text []byte) (*yaml.Node, error) {
	// A decoder instead of Unmarshal: it shows whether a second document follows.
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
		return nil, noYAML(text, err)
	case len(first.Content) == 0:
		return nil, nil
	}
	return first.Content[0], checkKeys(first.Content[0])
}

// checkKeys refuses each key that comes twice in a mapping, at any depth.
func checkKeys(n *yaml.Node) error {
	var errs []error
	lines := map[string]int{}
	for key := range Pairs(n) {
		if line, twice := lines[key.Value]; twice {
			errs = append(errs, Mistake(key, "key %q stands at line %d already", key.Value, line))
			continue
		}
		lines[key.Value] = key.Line
	}
	for _, part := range n.Content {
		errs = append(errs, checkKeys(part))
	}
	return errors.Join(errs...)
}

// yamlWords takes the parser's messages apart. The line in them can be one too low, hence "near" in ours.
var yamlWords = regexp.MustCompile(`(?s)yaml: (?:line (\d+): )?(.*)`)

// tabbed matches a tab where YAML takes only spaces: before the first word of a line. aboutTab matches the parser's
// messages about it.
var (
	tabbed   = regexp.MustCompile(`(?m)^[ -]*\t`)
	aboutTab = regexp.MustCompile(`tab character|cannot start any token`)
)

// noYAML rewrites an error of the parser in plain words. It has no node, so InFile adds the file and no line.
func noYAML(text []byte, err error) error {
	said := yamlWords.FindStringSubmatch(err.Error())
	tab := tabbed.FindIndex(text)
	switch {
	case tab != nil && aboutTab.MatchString(err.Error()):
		line := bytes.Count(text[:tab[0]], []byte("\n")) + 1
		return &mistake{line, tab[1] - tab[0], "this line is indented with a tab; YAML takes only spaces there"}
	case said == nil:
		return err
	case said[1] == "":
		return errors.New("this is not YAML: " + said[2])
	}
	return fmt.Errorf("this is not YAML near line %s: %s", said[1], said[2])
}
