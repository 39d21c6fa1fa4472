package s3

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"sync/atomic"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// local is a directory for files on their way: images until they are put, reference images until they are kept
// or done with. Nothing in it has to survive the process.
type local struct {
	root  *os.Root
	temps atomic.Uint64
}

func openLocal(dir string) (*local, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("s3: the directory for files on their way: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("s3: the directory for files on their way: %w", err)
	}
	l := &local{root: root}
	if err := l.empty(); err != nil {
		return nil, errors.Join(fmt.Errorf("s3: the directory %s cannot be emptied: %w", dir, err), root.Close())
	}
	return l, nil
}

func (l *local) empty() error {
	names, err := fs.ReadDir(l.root.FS(), ".")
	for _, e := range names {
		err = errors.Join(err, l.root.RemoveAll(e.Name()))
	}
	return err
}

// received is a file that was read to its end.
type received struct {
	name string
	size int64
	md5  string // in base64
}

// receive makes a file of what r yields: the whole of it or nothing. If r fails, its error is returned.
func (l *local) receive(ctx context.Context, r io.Reader) (_ received, err error) {
	if err := kv.NotBegun(ctx); err != nil {
		return received{}, err
	}
	name := "t" + strconv.FormatUint(l.temps.Add(1), 10)
	f, err := l.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return received{}, fmt.Errorf("%w: %w", imagegen.ErrNotApplied, err)
	}
	whole := false
	defer func() { // also when r panics
		if !whole {
			err = errors.Join(err, f.Close(), l.remove(name))
		}
	}()
	from, sum := &source{ctx: ctx, r: r}, md5.New()
	size, err := io.Copy(io.MultiWriter(f, sum), from)
	if err == nil {
		err = f.Close()
	}
	switch {
	case from.err != nil:
		return received{}, from.err
	case err != nil:
		return received{}, fmt.Errorf("%w: %w", imagegen.ErrNotApplied, err)
	}
	whole = true
	return received{name, size, base64.StdEncoding.EncodeToString(sum.Sum(nil))}, nil
}

// remove removes a file; that there is none is success.
func (l *local) remove(name string) error {
	if err := l.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("s3: %w", err)
	}
	return nil
}

// source tells a reader's failure from that of the disk, and ends with a context.
type source struct {
	ctx context.Context
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	if s.err = kv.NotBegun(s.ctx); s.err != nil {
		return 0, s.err
	}
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
