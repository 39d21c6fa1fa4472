package s3

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
)

// defaultPartSize is enough for a file of 625 GiB in mostParts. Larger files take larger parts, see putParts.
const defaultPartSize = 64 << 20

// Files keeps files of any size as objects, each under a name below the prefix. It need not be closed. It is safe for
// concurrent use.
type Files struct {
	objects  *objects
	partSize int64
}

// File describes an object of [Files].
type File struct {
	Name string // its key without the prefix
	Size int64  // in bytes
}

// OpenFiles returns the files below c.Prefix. It does not connect to the object store, so only later calls notice a
// wrong bucket or endpoint. It uses ctx only to find credentials.
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

// List lists the files whose names begin with begin, in the order of their names. It succeeds if there are none.
func (f *Files) List(ctx context.Context, begin string) (all []File, err error) {
	found, err := f.objects.all(ctx, begin)
	for _, o := range found {
		all = append(all, File{o.key, o.size})
	}
	return all, err
}

// Put stores the whole content of a local file under a name, regardless of the file's offset. At any time, also after
// an error, the name has the whole new content or what it had before, never a part. The object store checks the MD5 of
// each request. The file must not change meanwhile; Put does not close it.
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

// Open opens a file as it is now; the caller closes it. ctx applies only until Open returns. A later read fails if no
// data arrives for Config.RequestTimeout, or if it needs another request and the file was replaced meanwhile.
// imagegen.ErrNotFound.
func (f *Files) Open(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	return f.objects.openObject(ctx, name)
}

// Remove removes a file. It succeeds if there is none.
func (f *Files) Remove(ctx context.Context, name string) error { return f.objects.remove(ctx, name) }
