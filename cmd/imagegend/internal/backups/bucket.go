package backups

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/imagegend/imagegend/imagegen/storage/s3"
)

// bucket holds archives as objects. Its Remove is that of s3.Files.
type bucket struct {
	*s3.Files
	address string
}

// openBucket asks nothing of the bucket, so it succeeds while the bucket is away.
func openBucket(ctx context.Context, address string) (*bucket, error) {
	c, err := s3.ParseURL(address)
	if err != nil {
		return nil, err
	}
	files, err := s3.OpenFiles(ctx, c)
	if err != nil {
		return nil, err
	}
	return &bucket{files, address}, nil
}

// errNoName: an address is that of a whole bucket.
var errNoName = errors.New("names no archive")

// openObject opens the archive at an address whose last part is the name of the archive. The caller closes it.
func openObject(ctx context.Context, address string) (io.ReadCloser, error) {
	c, err := s3.ParseURL(address)
	if err != nil {
		return nil, err
	}
	dir, name := path.Split(c.Prefix)
	if name == "" {
		return nil, fmt.Errorf("%s %w: write s3://bucket/prefix/%sTIME%s", address, errNoName, prefix, suffix)
	}
	c.Prefix = strings.TrimSuffix(dir, "/")
	files, err := s3.OpenFiles(ctx, c)
	if err != nil {
		return nil, err
	}
	return files.Open(ctx, name)
}

// String implements Store.
func (b *bucket) String() string { return b.address }

// List implements Store.
func (b *bucket) List(ctx context.Context) (all []Archive, err error) {
	files, err := b.Files.List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if a, ok := parse(f.Name, f.Size); ok {
			all = append(all, a)
		}
	}
	return oldestFirst(all), nil
}

// Put implements Store. The file stays.
func (b *bucket) Put(ctx context.Context, file, name string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return b.Files.Put(ctx, name, f)
}

// Tidy implements Store.
func (b *bucket) Tidy(ctx context.Context) error { return b.DropUnfinished(ctx, prefix) }
