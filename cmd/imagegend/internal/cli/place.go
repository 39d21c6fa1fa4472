package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// place is the file that an image is written to. It has a temporary name where it is to replace another file, so that
// only a whole image replaces what was there before. finish must be called.
type place struct {
	*os.File
	name string // the name that the user knows, for output and errors
	over string // what the file is renamed to in the end; "": it has its name already
	ours bool   // the file was made for this image, and is removed after an error
}

// finish closes the file and, if err is nil, gives it its name. After an error it removes the file, unless it existed
// before. It returns err, joined with what else went wrong. The file is not flushed: after a crash of the machine the
// image can be fetched again.
func (p place) finish(err error) error {
	err = errors.Join(err, p.Close())
	if err == nil && p.over != "" {
		if err = os.Rename(p.Name(), p.over); err != nil {
			err = fmt.Errorf("%s cannot be written: %w", p.name, reason(err))
		}
	}
	if err != nil && p.ours {
		os.Remove(p.Name())
	}
	return err
}

// replacing makes a file in the directory of the named one, to take its place with the same permissions. A pipe or a
// device cannot be replaced and is written to. A symbolic link stays: the file that it leads to is replaced.
func replacing(name string) (place, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		return place{File: f, name: name}, err
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return place{}, err
	}
	over := linkEnd(name)
	f, err := createNew(filepath.Join(filepath.Dir(over), ".imagegend-"+rand.Text()))
	if err != nil {
		return place{}, fmt.Errorf("%s cannot be written: %w", name, reason(err))
	}
	p := place{File: f, name: name, over: over, ours: true}
	// The new file takes over the permissions of the one that it replaces; its owner it cannot.
	if info != nil {
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			return place{}, p.finish(err)
		}
	}
	return p, nil
}

// linkEnd follows symbolic links to the file that they mean. That file need not exist, which is why EvalSymlinks does
// not suffice. The caller has used os.Stat, which refuses a circle of links, so the recursion ends.
func linkEnd(name string) string {
	if end, err := filepath.EvalSymlinks(name); err == nil {
		return end
	}
	to, err := os.Readlink(name)
	if err != nil {
		return name
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(name), to)
	}
	return linkEnd(to)
}
