package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// place is a file under way to where an image belongs. What lay there before gives way only to a whole
// image.
type place struct {
	*os.File
	name string // as it is told
	over string // what the file is renamed to at last; "": it is written where it stays
	ours bool   // it was made for this image, so that nothing is lost with it
}

// finish closes the file and gives it its name, unless err kept the image from being whole.
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

// replacing makes a file beside the one that was named, to take its place. A pipe or a device cannot be
// replaced, and is written to.
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
	if info != nil {
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			return place{}, p.finish(err)
		}
	}
	return p, nil
}

// linkEnd follows symbolic links to the file that is meant, which need not be there. Links in a circle
// are no such file, and os.Stat has refused them.
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
