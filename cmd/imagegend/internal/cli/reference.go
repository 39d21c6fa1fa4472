package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/imagegend/imagegend/imagegen"
)

// reference is a reference image in a file, which is opened when it is sent. A file that was changed since
// openReference checked it is sent as it is then.
type reference struct{ path string }

// openReference opens nothing yet. It checks what can be checked without reading the file, so that a mistake shows
// before anything is asked for.
func openReference(path string) (reference, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return reference{}, fmt.Errorf("the reference image cannot be read: %w", err)
	case info.IsDir():
		return reference{}, fmt.Errorf("the reference image %s is a directory", path)
	case info.Size() > imagegen.MaxReferenceBytes:
		return reference{}, fmt.Errorf("the reference image %s has %d bytes; at most %d are allowed", path, info.Size(),
			imagegen.MaxReferenceBytes)
	}
	return reference{path}, nil
}

var _ imagegen.Namer = reference{}

// Open implements imagegen.Reference. It opens the file anew each time, so a call can be repeated.
func (r reference) Open(context.Context) (io.ReadCloser, error) { return os.Open(r.path) }

// Name implements imagegen.Namer. It is what the service calls the image in its errors.
func (r reference) Name() string { return filepath.Base(r.path) }
