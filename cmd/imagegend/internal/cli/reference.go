package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/imagegend/imagegend/imagegen"
)

// reference is a reference image in a file. It is opened when it is sent, again for each repetition of the call.
type reference struct{ path string }

// openReference checks what can be checked without reading the file, so that a mistake shows before anything is asked
// for.
func openReference(path string) (reference, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return reference{}, fmt.Errorf("the reference image cannot be read: %w", err)
	case info.IsDir():
		return reference{}, fmt.Errorf("the reference image %s is a directory", path)
	case info.Size() > imagegen.MaxReferenceBytes:
		return reference{}, fmt.Errorf("the reference image %s has %d bytes; at most %d are allowed", path, info.Size(), imagegen.MaxReferenceBytes)
	}
	return reference{path}, nil
}

// Open implements imagegen.Reference.
// Open may be called more than once, since a call can be repeated.
func (r reference) Open(context.Context) (io.ReadCloser, error) { return os.Open(r.path) }

// Name is what the service calls the image in its errors.
func (r reference) Name() string { return filepath.Base(r.path) }
