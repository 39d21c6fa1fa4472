package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/imagegend/imagegend/imagegen"
)

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

// Name is what the service calls the image when it complains of it.
func (r reference) Name() string { return filepath.Base(r.path) }
