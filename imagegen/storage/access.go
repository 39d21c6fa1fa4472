package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// unreachable says of a directory that cannot be used what is in the way. The system's own words
// name a file in it that nobody has typed.
func unreachable(dir string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("storage: this user may not use the data directory %s: %w%s", dir, plainly(err), belongs(dir))
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("storage: %s is not a directory; name another", nearest(dir))
	}
	return fmt.Errorf("storage: %w", err)
}

// unmakeable says of a directory that cannot be made why.
func unmakeable(dir string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		parent := nearest(filepath.Dir(dir))
		return fmt.Errorf("storage: the directory %s cannot be made: this user may not write to %s: %w; name another, or have it made for this user", dir, parent, plainly(err))
	case errors.Is(err, syscall.ENOTDIR):
		return unreachable(dir, err)
	}
	return fmt.Errorf("storage: the directory %s cannot be made: %w", dir, err)
}

// belongs tells the other user who can use a path, where the system tells.
func belongs(path string) string {
	path = nearest(path)
	if id := otherOwner(path); id != "" {
		return fmt.Sprintf("; %s belongs to the user with uid %s: run this as that user", path, id)
	}
	return ""
}

// nearest is the path itself, or the lowest one above it that can be looked at.
func nearest(path string) string {
	for {
		_, err := os.Lstat(path)
		if up := filepath.Dir(path); err != nil && up != path {
			path = up
			continue
		}
		return path
	}
}

// plainly leaves out of an error which call failed on which path.
func plainly(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
