package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/filename"
)

// inside returns a path as it lies in the directory. An absolute one is taken where it leads there.
func (t *tools) inside(path string) (string, error) {
	outside := imagegen.Invalid("%q lies outside of the server's directory", path)
	if filepath.IsAbs(path) {
		dir, err := filepath.Abs(t.Dir.Name())
		if err != nil {
			return "", err
		}
		if path, err = filepath.Rel(dir, path); err != nil {
			return "", outside
		}
	}
	if !filepath.IsLocal(path) {
		return "", outside
	}
	return filepath.Clean(path), nil
}

// target is where images are to be saved, without number and extension; "": nowhere. It refuses what could not work before
// it is paid for.
func (t *tools) target(path, prompt string) (string, error) {
	switch {
	case t.Dir == nil && path != "":
		return "", imagegen.Invalid("save_as has no place here: the server has no directory")
	case t.Dir == nil:
		return "", nil
	case path == "":
		return filename.OfPrompt(prompt), nil
	}
	path, err := t.inside(path)
	if err != nil {
		return "", err
	}
	path = strings.TrimSuffix(path, filepath.Ext(path))
	info, err := t.Dir.Stat(filepath.Dir(path))
	switch {
	case path == "" || strings.HasSuffix(path, string(filepath.Separator)):
		return "", imagegen.Invalid("save_as names no file")
	case err != nil:
		return "", imagegen.Invalid("save_as: the directory %q cannot be used: %v", filepath.Dir(path), reason(err))
	case !info.IsDir():
		return "", imagegen.Invalid("save_as: %q is not a directory", filepath.Dir(path))
	}
	return path, nil
}

// save writes image i of n to a new file and returns its path.
func (t *tools) save(ctx context.Context, p picture, to string, i, n int) (string, error) {
	image, err := t.OpenImage(ctx, p.ID)
	if err != nil {
		return "", err
	}
	defer image.Close()
	file, name, err := t.create(to, filename.Extension(p.MediaType), i, n)
	if err != nil {
		return "", unsaved(p, name, err)
	}
	_, err = io.Copy(file, image)
	if err = errors.Join(err, file.Close()); err != nil {
		t.Dir.Remove(name) // half an image is none
		return "", unsaved(p, name, err)
	}
	return filepath.ToSlash(name), nil
}

// unsaved tells that an image that is paid for could not be written, and where it is.
func unsaved(p picture, name string, err error) error {
	if e, ok := errors.AsType[*imagegen.Error](err); ok {
		return e
	}
	return imagegen.Invalid("%s was made, but could not be saved as %q: %v. Read it at %s", p.ID, filepath.ToSlash(name), reason(err), p.URL)
}

// maxNames bounds how many names that are taken are passed over.
const maxNames = 10_000

// create makes a file under the first name that is free.
func (t *tools) create(to, ext string, i, n int) (file *os.File, name string, err error) {
	for number := i + 1; number < maxNames; number++ {
		name = fmt.Sprintf("%s-%d%s", to, number, ext)
		if number == 1 && n == 1 {
			name = to + ext
		}
		file, err = t.Dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return file, name, err
		}
	}
	return nil, name, err
}

// reason leaves out of an error where the directory lies.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
