package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Document returns the root of a file's text, nil if nothing stands in it. Its errors name the file.
// (yaml.Unmarshal passes over every document but the first.)
func Document(path string, text []byte) (*yaml.Node, error) {
	var first, second yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	err := d.Decode(&first)
	if err == nil {
		err = d.Decode(&second)
	}
	switch {
	case err == nil:
		return nil, fmt.Errorf("%s:%d: a second YAML document begins here; write all into the first, without ---", path, second.Line)
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: %w", path, noYAML(err))
	case len(first.Content) == 0:
		return nil, nil
	}
	return first.Content[0], nil
}
