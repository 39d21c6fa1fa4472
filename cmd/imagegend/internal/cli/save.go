package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/imagegen"
)

// target is where images go.
type target struct {
	stdout bool
	base   string // path without number and extension
	ext    string // as asked for; "": by the type of the image
	chosen bool   // the operator named it: what lies there is overwritten
}

// newTarget decides where images go, and refuses what could not work before it is paid for.
func newTarget(cmd *cobra.Command, a *app, prompt string) (target, error) {
	o := a.settings.Output
	switch {
	case o == "-" && a.settings.N > 1:
		return target{}, usage(cmd, "only one image fits on standard output; name a file with -o")
	case o == "-" && isTerminal(a.stdout):
		return target{}, usage(cmd, "an image does not belong on a terminal; name a file or pipe the output on")
	case o == "-":
		return target{stdout: true}, nil
	case o == "":
		return target{base: slug(prompt)}, nil
	}
	if info, err := os.Stat(filepath.Dir(o)); err != nil || !info.IsDir() {
		return target{}, fmt.Errorf("there is no directory %s to save %s in", filepath.Dir(o), filepath.Base(o))
	}
	if info, err := os.Stat(o); err == nil && info.IsDir() {
		return target{}, fmt.Errorf("%s is a directory; name a file in it", o)
	}
	ext := filepath.Ext(o)
	return target{base: strings.TrimSuffix(o, ext), ext: ext, chosen: true}, nil
}

// slug makes a file name of a prompt.
func slug(prompt string) string {
	const longest = 40
	var b strings.Builder
	for _, r := range strings.ToLower(prompt) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = '-'
		}
		if r != '-' || b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
			b.WriteRune(r)
		}
		if b.Len() >= longest {
			break
		}
	}
	if name := strings.Trim(b.String(), "-"); name != "" {
		return name
	}
	return "image"
}

// create makes the file of image number i of n.
func (t target) create(i, n int, mediaType string) (*os.File, error) {
	ext := t.ext
	if ext == "" {
		ext = extension(mediaType)
	}
	if t.chosen {
		name := t.base + ext
		if n > 1 {
			name = fmt.Sprintf("%s-%d%s", t.base, i, ext)
		}
		return os.Create(name)
	}
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

func createNew(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

func extension(mediaType string) string {
	if mediaType == "image/jpeg" {
		return ".jpg"
	}
	return "." + strings.TrimPrefix(mediaType, "image/")
}

// save writes the images and prints the names of the files.
func (a *app) save(ctx context.Context, s imagegen.Service, g imagegen.Generation, t target) error {
	for i, image := range g.Images {
		file, err := persist(ctx, func() (*imagegen.ImageFile, error) { return s.OpenImage(ctx, image.ID) })
		if err != nil {
			return err
		}
		err = a.saveImage(file, t, i+1, g.N)
		file.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *app) saveImage(image *imagegen.ImageFile, t target, i, n int) error {
	if t.stdout {
		_, err := io.Copy(a.stdout, image)
		return err
	}
	f, err := t.create(i, n, image.MediaType)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, image)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return err
	}
	if ext := extension(image.MediaType); t.ext != "" && t.ext != ext && !(t.ext == ".jpeg" && ext == ".jpg") {
		fmt.Fprintf(a.stderr, "note: %s holds %s\n", f.Name(), image.MediaType)
	}
	_, err = fmt.Fprintln(a.stdout, f.Name())
	return err
}

// reference is a reference image in a file.
type reference struct{ path string }

func openReference(path string) (reference, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return reference{}, fmt.Errorf("the reference image cannot be read: %w", err)
	case info.IsDir():
		return reference{}, fmt.Errorf("the reference image %s is a directory", path)
	case info.Size() > imagegen.MaxReferenceBytes:
		return reference{}, fmt.Errorf("the reference image %s has %d bytes; %d are the most", path, info.Size(), imagegen.MaxReferenceBytes)
	}
	return reference{path}, nil
}

// Open implements imagegen.Reference.
func (r reference) Open(context.Context) (io.ReadCloser, error) { return os.Open(r.path) }
