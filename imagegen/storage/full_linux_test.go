package storage_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/iotest"

	"golang.org/x/sys/unix"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// smallDisk mounts a disk of 48 MiB; fill takes up all that is free of it, free gives it back.
// If mounting is not allowed, commits fail in its place as they do on such a disk.
func smallDisk(t *testing.T) (dir string, fill func(*storage.DB) error, free func() error, real bool) {
	t.Helper()
	dir = t.TempDir()
	filler := filepath.Join(dir, "filler")
	free = func() error { return os.Remove(filler) }
	if unix.Mount("tmpfs", dir, "tmpfs", 0, "size=48m") != nil {
		return dir, func(db *storage.DB) error {
			return pretendFull(db, filler, filepath.Join(dir, "data", "ballast"))
		}, free, false
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, func(*storage.DB) error { return takeUp(filler) }, free, true
}

func takeUp(filler string) error {
	f, err := os.Create(filler)
	if err != nil {
		return err
	}
	for err == nil {
		_, err = f.Write(make([]byte, os.Getpagesize()))
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// pretendFull has commits fail while filler is there, but for 16 MiB once the ballast is gone.
func pretendFull(db *storage.DB, filler, ballast string) error {
	left := 16 << 20
	db.SetCommit(func(commit func() error) error {
		if exists(filler) {
			if left -= largeValue; exists(ballast) || left < 0 {
				return writeError(syscall.ENOSPC)
			}
		}
		return commit()
	})
	return os.WriteFile(filler, nil, 0o600)
}

const largeValue = 64 << 10

func TestAFullDisk(t *testing.T) {
	dir, fill, free, real := smallDisk(t)
	data := filepath.Join(dir, "data")
	w := work(t, openDir(t, data, &storage.Options{MinFree: 1 << 20}))
	w.fund(10)
	r := w.begin(1)
	w.is.NoErr(fill(w.DB))

	var err error
	written := 0
	for ; err == nil && written < 1000; written++ {
		err = w.KV().Update(t.Context(), put(fmt.Sprint(written), string(bytes.Repeat([]byte("x"), largeValue))))
	}
	w.is.True(errors.Is(err, imagegen.ErrNotApplied))
	w.is.NoErr(w.Err())     // no reason to stop
	w.is.True(written > 50) // the ballast was there for them
	w.is.True(!exists(data, "ballast"))
	huge := io.MultiReader(io.LimitReader(zeros{}, 64<<20), iotest.ErrReader(errors.New("there was space")))
	err = w.PutImage(t.Context(), r.ImageKey(stored(r, nil)), huge)
	w.is.True(err != nil)
	w.is.Equal(errors.Is(err, imagegen.ErrNotApplied), real)
	w.is.Equal(len(filesUnder(t, filepath.Join(data, "images"))), 0)
	b, err := w.Balance(t.Context(), "alice")
	w.is.NoErr(err)
	w.is.Equal(b.Credits, imagegen.Credits(9)) // reads go on

	w.is.NoErr(free())
	w.finish(r, pixels(1))
	w.finish(w.begin(2), pixels(2))
	w.clean()
	w.is.NoErr(w.Close())
	w.is.NoErr(os.WriteFile(filepath.Join(data, "unclean"), nil, 0o600)) // have every page checked
	w = work(t, openDir(t, data, &storage.Options{MinFree: 1 << 20}))
	w.clean()
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
