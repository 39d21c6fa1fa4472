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

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// local is a directory for files on their way: images until they are put, reference images until they are removed.
// Nothing in it has to survive the process. It is safe for concurrent use.
type local struct {
	root  *os.Root
	temps atomic.Uint64 // numbers the files, so that no two have one name
}

// openLocal makes the directory if there is none, for this user alone, and empties it.
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

// empty removes what a process before has left, as far as it can, and returns all errors.
func (l *local) empty() error {
	names, err := fs.ReadDir(l.root.FS(), ".")
	for _, e := range names {
		err = errors.Join(err, l.root.RemoveAll(e.Name()))
	}
	return err
}

// received is a local file that has all that a reader yielded.
type received struct {
	name string
	size int64
	md5  string // in base64
}

// receive makes a file of what r yields, the whole of it or nothing, and sums it up on the way. If r fails, or panics,
// nothing is left behind; its error is returned as it is, since it may be the caller's own. imagegen.ErrNotApplied: ctx
// ended, or the disk failed. The file is not flushed: it need not outlast the process.
func (l *local) receive(ctx context.Context, r io.Reader) (_ received, err error) {
	if err := kv.NotBegun(ctx); err != nil {
		return received{}, err
	}
	name := "t" + strconv.FormatUint(l.temps.Add(1), 10)
	f, err := l.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return received{}, kv.Unwritten(err)
	}
	whole := false
	defer func() { // also when r panics
		if !whole {
			err = errors.Join(err, f.Close(), l.remove(name))
		}
	}()
	sum := md5.New()
	size, err := kv.Copy(ctx, io.MultiWriter(f, sum), r)
	if err != nil {
		return received{}, err
	}
	if err := f.Close(); err != nil {
		return received{}, kv.Unwritten(err)
	}
	whole = true
	return received{name, size, base64.StdEncoding.EncodeToString(sum.Sum(nil))}, nil
}

// remove removes a file. It succeeds if there is none.
func (l *local) remove(name string) error {
	if err := l.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("s3: %w", err)
	}
	return nil
}
