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

// inside returns a path relative to the directory, into which an absolute one must lead. It looks at the
// words of the path alone; os.Root makes sure that links do not lead out of the directory.
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

// target returns where images are to be saved, without number and extension; "": nowhere. Without a path
// the name comes from the prompt. It refuses what cannot work, before anything is paid for.
func (t *tools) target(path, prompt string) (string, error) {
	switch {
	case t.Dir == nil && path != "":
		return "", imagegen.Invalid("save_as is not possible: the server has no directory")
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
	switch base := filepath.Base(path); {
	case strings.ContainsRune(base, 0) || len(base) > longestName:
		return "", imagegen.Invalid("save_as: the name of a file has at most %d bytes, and no NUL", longestName)
	case path == "" || strings.HasSuffix(path, string(filepath.Separator)):
		return "", imagegen.Invalid("save_as names no file")
	case err != nil:
		return "", imagegen.Invalid("save_as: the directory %q cannot be used: %v", filepath.Dir(path), reason(err))
	case !info.IsDir():
		return "", imagegen.Invalid("save_as: %q is not a directory", filepath.Dir(path))
	}
	return path, nil
}

// save writes image i of n, from 0, to a new file and returns its path in the directory, with slashes. On
// an error no file is left.
func (t *tools) save(ctx context.Context, p madeImage, to string, i, n int) (string, error) {
	image, err := t.OpenImage(ctx, p.ID) // before the file, which an image that is gone must not leave empty
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
		t.Dir.Remove(name) // it may hold half an image
		return "", unsaved(p, name, err)
	}
	return filepath.ToSlash(name), nil
}

// unsaved is the error for an image that was paid for and could not be written. It says where to read the
// image. An error of the service, which could not be read from, is returned as it is.
func unsaved(p madeImage, name string, err error) error {
	if e, ok := errors.AsType[*imagegen.Error](err); ok {
		return e
	}
	return imagegen.Invalid("%s was made, but could not be saved as %q: %v. Read it at %s", p.ID,
		filepath.ToSlash(name), reason(err), p.URL)
}

// maxNames bounds the numbers that are tried to find a free name.
const maxNames = 10_000

// longestName is how many bytes of a name leave room, of the 255 that file systems have, for the largest number
// and the longest extension.
const longestName = 255 - len("-9999.webp")

// create makes a file under the first name that is free: the target itself for a single image, else the
// target with a number, from i+1 on. O_EXCL makes sure that no existing file is overwritten, even if
// another call chooses a name at the same time. The caller closes the file.
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

// reason returns an error without the path: agents need not learn where the directory is.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
