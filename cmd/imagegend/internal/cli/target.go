package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/internal/filename"
)

// target is where images go. The names of the files are made as the images come: without -o by the first free name,
// and without an extension by the type of the image.
type target struct {
	stdout bool   // to standard output; then no other field is set
	base   string // path without number and extension
	ext    string // extension that was asked for; "": by the type of the image
	asJSON bool   // names are printed at the end, as JSON
	chosen bool   // -o named it: an existing file is replaced
}

// newTarget decides where images go. It refuses what cannot work before anything is charged. To find out, it makes
// files beside the targets and removes them; the targets themselves it does not change.
func newTarget(cmd *cobra.Command, a *app, prompt string) (target, error) {
	o := a.settings.Output
	switch {
	case a.settings.NoWait: // nothing is saved
		return target{}, nil
	case o == "-" && a.settings.N > 1:
		return target{}, usage(cmd, "only one image fits on standard output; name a file with -o")
	case o == "-" && isTerminal(a.stdout):
		return target{}, usage(cmd, "an image does not belong on a terminal; name a file or pipe the output on")
	case o == "-":
		return target{stdout: true}, nil
	case o == "":
		// Any free name will do, so only the directory has to be tried.
		return target{base: filename.OfPrompt(prompt)}, tryDirectory(".")
	}
	if info, err := os.Stat(filepath.Dir(o)); err != nil || !info.IsDir() {
		return target{}, fmt.Errorf("there is no directory %s to save %s in", filepath.Dir(o), filepath.Base(o))
	}
	if info, err := os.Stat(o); err == nil && info.IsDir() {
		return target{}, fmt.Errorf("%s is a directory; name a file in it", o)
	}
	// A number for one of several images goes in front of the extension.
	ext := filepath.Ext(o)
	t := target{base: strings.TrimSuffix(o, ext), ext: ext, chosen: true}
	if ext == "" { // the image will decide the extension, so the names are not known yet
		return t, tryDirectory(filepath.Dir(o))
	}
	for i := range a.settings.N {
		if err := tryFile(t.name(i+1, a.settings.N, ext)); err != nil {
			return t, err
		}
	}
	return t, nil
}

// tryFile checks that a file can be written or replaced, without changing it. A regular file must be writable
// although a new file takes its place: who protects a file does not want it replaced.
func tryFile(name string) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tryDirectory(filepath.Dir(linkEnd(name)))
	case err == nil && info.IsDir():
		err = errors.New("it is a directory")
	case err == nil && info.Mode().IsRegular(): // a pipe is not opened: its reader would take that for the whole image
		var f *os.File
		if f, err = os.OpenFile(name, os.O_WRONLY, 0); err == nil { // without truncating it
			err = f.Close()
		}
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w; name another file with -o", name, reason(err))
	}
	if info.Mode().IsRegular() { // the image is written beside it first
		return tryDirectory(filepath.Dir(linkEnd(name)))
	}
	return nil
}

// tryDirectory makes a file in a directory and removes it: only that shows whether it works, on a full disk too.
func tryDirectory(dir string) error {
	f, err := os.CreateTemp(dir, ".imagegend-")
	if err != nil {
		return fmt.Errorf("nothing can be written in the directory %s: %w; name a file elsewhere with -o", dir,
			reason(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// reason returns an error without the file that it names, where the message names it already.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// name returns the file of image number i of n where -o named one: the name itself, or one with the number before the
// extension if there are several images.
func (t target) name(i, n int, ext string) string {
	if n == 1 {
		return t.base + ext
	}
	return fmt.Sprintf("%s-%d%s", t.base, i, ext)
}

// create makes the file of image number i of n, whose type is known only now. Without -o it takes the first free
// name, so the numbers of several images can have gaps.
func (t target) create(i, n int, mediaType string) (place, error) {
	ext := cmp.Or(t.ext, filename.Extension(mediaType))
	if t.chosen {
		return replacing(t.name(i, n, ext))
	}
	f, err := t.createFree(i, n, ext)
	if err != nil {
		return place{}, err
	}
	return place{File: f, name: f.Name(), ours: true}, nil
}

// createFree makes a file under the first free name. O_EXCL decides what is free, so that two commands at once do not
// take the same name.
func (t target) createFree(i, n int, ext string) (*os.File, error) {
	if n == 1 {
		if f, err := createNew(t.base + ext); !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		i++ // fox.png is there: fox-2.png
	}
	for ; ; i++ {
		if f, err := createNew(fmt.Sprintf("%s-%d%s", t.base, i, ext)); !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// createNew makes a file. If there is one of that name, it returns an fs.ErrExist.
func createNew(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}
