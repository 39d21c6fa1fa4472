package catalog

import (
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// content is what a file contains that models.yaml names.
func (s source) content(n *yaml.Node) ([]byte, error) {
	var name string
	if err := text(&name)(n); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(s.path(name))
	if err != nil {
		return nil, errAt(n, "the file cannot be read: %v", err)
	}
	return content, nil
}

// path is where a file lies that models.yaml names.
func (s source) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.dir, name)
}
