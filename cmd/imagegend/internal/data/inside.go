package data

import (
	"path/filepath"
	"strings"
)

// Inside reports whether a path is in a directory, or is it.
func Inside(path, dir string) bool {
	relative, err := filepath.Rel(real(dir), real(path))
	return err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator))
}

// real returns an absolute path without symbolic links. If a path does not exist, the links in the part that does are
// followed.
func real(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if followed, err := filepath.EvalSymlinks(path); err == nil {
		return followed
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(real(parent), filepath.Base(path))
}
