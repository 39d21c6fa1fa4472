package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// unreachable explains why a directory cannot be used, in words for the person who typed its name. The
// system's own words would name a file inside it that nobody has typed.
func unreachable(dir string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("storage: this user may not use the data directory %s: %w%s", dir, plainly(err), belongs(dir))
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("storage: %s is not a directory; name another", nearest(dir))
	}
	return fmt.Errorf("storage: %w", err)
}

// unmakeable explains why a directory cannot be made. It names the lowest parent that exists, since that
// is where the permission is missing.
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

// belongs names the owner of a path and advises to run as that user. It returns "" if the owner is
// the user of this process or is not known.
func belongs(path string) string {
	path = nearest(path)
	if id := otherOwner(path); id != "" {
		return fmt.Sprintf("; %s belongs to the user with uid %s: run this as that user", path, id)
	}
	return ""
}

// nearest is the path itself, or the lowest directory above it that exists and can be looked at.
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

// plainly strips from an error which call failed on which path, where the message names a path already.
func plainly(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
