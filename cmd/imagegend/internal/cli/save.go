package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/filename"
)

// save writes the images, prints the names of the files, and returns them, also those that were written before an
// error.
func (a *app) save(ctx context.Context, s imagegen.Service, g imagegen.Generation,
	t target) (files []string, err error) {
	files = []string{}
	for i, image := range g.Images {
		name, err := a.saveImage(ctx, s, image.ID, t, i+1, g.N)
		if err != nil {
			return files, a.unsaved(g, g.Images[i:], err)
		}
		files = append(files, name)
	}
	return files, nil
}

// saveImage opens image number i of n and writes it. Opening is repeated if the connection fails. Reading is not; the
// error then tells the user where to get the image.
func (a *app) saveImage(ctx context.Context, s imagegen.Service, id imagegen.ImageID, t target, i,
	n int) (name string, err error) {
	file, err := persist(ctx, func() (*imagegen.ImageFile, error) { return s.OpenImage(ctx, id) })
	if err != nil {
		return "", err
	}
	defer file.Close()
	return a.writeImage(file, t, i, n)
}

// writeImage copies an image to its target and returns the name of the file; "" for standard output. An extension that
// does not fit the image is worth a note on standard error, and no error.
func (a *app) writeImage(image *imagegen.ImageFile, t target, i, n int) (name string, err error) {
	if t.stdout {
		_, err := io.Copy(a.stdout, image)
		return "", err
	}
	f, err := t.create(i, n, image.MediaType)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, image)
	// Only here does the image get its name, and replace a file that was there before.
	if err = f.finish(err); err != nil {
		return "", err
	}
	// The image is written as it came. The extension is the user's choice and asks the model for nothing;
	// --output-format does.
	chosen, ext := strings.ToLower(t.ext), filename.Extension(image.MediaType)
	if chosen != "" && chosen != ext && !(chosen == ".jpeg" && ext == ".jpg") {
		fmt.Fprintf(a.stderr, "note: %s holds %s\n", f.name, image.MediaType)
	}
	if t.asJSON {
		return f.name, nil
	}
	_, err = fmt.Fprintln(a.stdout, f.name)
	return f.name, err
}
