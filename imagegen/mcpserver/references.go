package mcpserver

import (
	"context"
	"io"
	"os"

	"github.com/imagegend/imagegend/imagegen"
)

// references finds what a caller names: images, all images of a generation, or files in the directory.
// None is read yet. An image that does not exist is refused by the service, when it opens it.
func (t *tools) references(ctx context.Context, names []string) (all []imagegen.Reference, err error) {
	for _, name := range names {
		switch {
		case len(all) > imagegen.MaxReferences: // enough for the service to refuse the number
			return all, nil
		case imagegen.GenerationID(name).Valid():
			g, err := t.Generation(ctx, imagegen.GenerationID(name))
			if err != nil {
				return nil, err
			}
			if len(g.Images) == 0 {
				return nil, imagegen.Invalid("references: %s has no image", name)
			}
			for _, m := range g.Images {
				all = append(all, stored{t, m.ID})
			}
		case isImage(name):
			all = append(all, stored{t, imagegen.ImageID(name)})
		default:
			f, err := t.file(name)
			if err != nil {
				return nil, err
			}
			all = append(all, f)
		}
	}
	return all, nil
}

// isImage reports whether a name has the form of an image's identifier. A file of such a name cannot be
// reached, unless by a path such as ./name.
func isImage(name string) bool {
	_, ok := imagegen.ImageID(name).Generation()
	return ok
}

// stored is an image in the service, as a reference. Its bytes pass through this process.
type stored struct {
	*tools
	id imagegen.ImageID
}

// Open implements [imagegen.Reference].
func (s stored) Open(ctx context.Context) (io.ReadCloser, error) { return s.OpenImage(ctx, s.id) }

// file is a reference image in the directory.
type file struct {
	dir  *os.Root
	name string
}

// Open implements [imagegen.Reference].
func (f file) Open(context.Context) (io.ReadCloser, error) { return f.dir.Open(f.name) }

// file returns a file in the directory as a reference. It refuses anything but a regular file, since
// opening a pipe could wait for ever, and a file that is too large.
func (t *tools) file(path string) (imagegen.Reference, error) {
	if t.Dir == nil {
		return nil, imagegen.Invalid("references: %q is not an identifier of an image or a generation; files cannot be read here", path)
	}
	name, err := t.inside(path)
	if err != nil {
		return nil, err
	}
	info, err := t.Dir.Stat(name)
	switch {
	case err != nil:
		return nil, imagegen.Invalid("references: %q cannot be read: %v", path, reason(err))
	case !info.Mode().IsRegular():
		return nil, imagegen.Invalid("references: %q is not a file", path)
	case info.Size() > imagegen.MaxReferenceBytes:
		return nil, imagegen.Invalid("references: %q is larger than %d bytes", path, imagegen.MaxReferenceBytes)
	}
	return file{t.Dir, name}, nil
}
