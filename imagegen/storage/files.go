package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// files keeps bytes under names below the directory. No name leads out of it.
type files struct {
	dir     string
	root    *os.Root                 // of dir
	stopped func() error             // returns why nothing more may be written; nil: it may
	flush   func(dir *os.File) error // makes the names in a directory durable; tests make it fail
	// random, for temporary names: a write may outlive a Close, and must not meet those of the next Open
	run   string
	temps atomic.Uint64
}

func newFiles(dir string, root *os.Root, stopped func() error) *files {
	return &files{dir: dir, root: root, stopped: stopped, flush: syncOpenDir, run: rand.Text()}
}

// newTemp returns a unique name below tempDir. It makes no file.
func (f *files) newTemp() string {
	return path.Join(tempDir, f.run+"-"+strconv.FormatUint(f.temps.Add(1), 10))
}

// writable returns why nothing may be changed now; nil if it may.
func (f *files) writable(ctx context.Context) error {
	if err := f.stopped(); err != nil {
		return notApplied(err)
	}
	return kv.NotBegun(ctx)
}

// writeFile makes a file from what r yields: all of it under its name, or nothing. durable
// says whether the file must survive a power cut; then its contents are flushed before it
// gets its name, and the name afterwards. If r fails, its error is returned. An error of
// the last flush is not definite: the file has its name, but a power cut may take it away.
func (f *files) writeFile(ctx context.Context, name string, r io.Reader, durable bool) error {
	if err := f.writable(ctx); err != nil {
		return err
	}
	temp := f.newTemp()
	named := false
	defer func() { // also when r panics
		if !named {
			_ = f.remove(temp) // what stays is removed at the next start
		}
	}()
	if err := f.writeTemp(ctx, temp, r, durable); err != nil {
		return err
	}
	if err := f.root.Rename(temp, name); err != nil {
		return unwritten(err)
	}
	named = true
	if durable {
		return f.syncDir(path.Dir(name))
	}
	return nil
}

// writeTemp writes the bytes under a temporary name.
func (f *files) writeTemp(ctx context.Context, temp string, r io.Reader, durable bool) (err error) {
	file, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return unwritten(err)
	}
	defer func() {
		if closed := unwritten(file.Close()); err == nil {
			err = closed
		}
	}()
	if _, err := kv.Copy(ctx, file, r); err != nil || !durable {
		return err
	}
	return unwritten(file.Sync())
}

// unwritten makes a definite error of one that occurred before the file had its name; nil stays nil.
func unwritten(err error) error {
	if err == nil {
		return nil
	}
	return kv.Unwritten(fmt.Errorf("storage: %w", err))
}

// open opens a file. imagegen.ErrNotFound.
func (f *files) open(ctx context.Context, name string) (*os.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, err := f.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, imagegen.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	return file, nil
}

// sync flushes a file's contents; syncDir flushes its name. imagegen.ErrNotFound.
func (f *files) sync(ctx context.Context, name string) error {
	file, err := f.open(ctx, name)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// syncDir makes the names in a directory durable.
func (f *files) syncDir(name string) error {
	d, err := f.root.Open(name)
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	if err := errors.Join(f.flush(d), d.Close()); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	return nil
}

// remove removes a file, and succeeds if there is none. It uses the whole path, since
// that needs no file descriptor, and there may be none left.
func (f *files) remove(name string) error {
	if err := os.Remove(filepath.Join(f.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("storage: %w", err)
	}
	return nil
}

// list returns the names in a directory that begin with prefix; none if there is no directory.
func (f *files) list(name, prefix string) ([]string, error) {
	d, err := f.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	return slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, prefix) }), nil
}

// isPlain reports whether an identifier can be part of a file name: it cannot be confused
// with another, lead out of a directory, or be read as several parts.
func isPlain(id string) bool { return len(id) <= 100 && kv.Plain(id) }
