package s3

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
)

const defaultPartSize = 64 << 20

// Files keeps files of any size as objects, each under a name below the prefix. It is safe for concurrent use.
type Files struct {
	objects  *objects
	partSize int64
}

// File is an object.
type File struct {
	Name string // its key without the prefix
	Size int64  // in bytes
}

// OpenFiles asks the object store nothing. Config.Dir is not needed.
func OpenFiles(ctx context.Context, c Config) (*Files, error) {
	if c.Bucket == "" {
		return nil, errors.New("s3: Config.Bucket is required")
	}
	o, err := openObjects(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Files{o, cmp.Or(c.PartSize, defaultPartSize)}, nil
}

// List lists the files whose names begin with a text, in the order of their names.
func (f *Files) List(ctx context.Context, begin string) (all []File, err error) {
	err = f.objects.list(ctx, begin, "", func(page listing) error {
		for _, o := range page.objects {
			all = append(all, File{o.key, o.size})
		}
		return nil
	})
	return all, err
}

// Put gives a file that lies here a name there. Under the name there is the whole of it, or what was there before; the
// object store compares each request with its MD5. The file must not change meanwhile.
func (f *Files) Put(ctx context.Context, name string, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() > f.partSize {
		return f.putParts(ctx, name, file, info.Size())
	}
	sum, err := sumOf(ctx, io.NewSectionReader(file, 0, info.Size()))
	if err != nil {
		return err
	}
	return f.objects.put(ctx, name, upload{file, info.Size(), sum})
}

// Open opens a file as it is now. What is read of it later does not end with ctx, but with a silence. imagegen.ErrNotFound.
func (f *Files) Open(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	r, err := f.objects.open(ctx, name)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Remove removes a file; that there is none is success.
func (f *Files) Remove(ctx context.Context, name string) error { return f.objects.remove(ctx, name) }
