package storage_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

func writeError(errno syscall.Errno) error {
	return &fs.PathError{Op: "write", Path: "imagegen.db", Err: errno}
}

func exists(path ...string) bool {
	_, err := os.Stat(filepath.Join(path...))
	return !errors.Is(err, fs.ErrNotExist)
}

// The outcome of every fault but a full disk at a write is unknown, and the storage stops.
func TestADiskFaultStopsEverything(t *testing.T) {
	for name, fault := range map[string]func() error{
		"flush fails":          func() error { return syscall.EIO },
		"write fails":          func() error { return writeError(syscall.EIO) },
		"file too large":       func() error { return writeError(syscall.EFBIG) },
		"full at the flush":    func() error { return syscall.ENOSPC },
		"full at the resize":   func() error { return &fs.PathError{Op: "truncate", Err: syscall.ENOSPC} },
		"panic in the library": func() error { panic("assertion failed") },
	} {
		t.Run(name, func(t *testing.T) {
			is, dir := is.New(t), t.TempDir()
			bubble(t, dir, func(t *testing.T, db *storage.DB) {
				failing := func(func() error) error { return fault() }
				refuse := func(kv.Tx) error { return imagegen.ErrExists }
				errs, commits := together(t, db, failing, put("a", "1"), refuse, put("b", "1"))
				is.Equal(commits, 1)       // and never again
				for _, err := range errs { // also what was refused: it may have read what is not durable
					is.True(errors.Is(err, storage.ErrOutcomeUnknown))
					is.True(!imagegen.Definite(err))
				}
				<-db.Failed()
				is.True(errors.Is(db.Err(), storage.ErrStopped))
				is.True(errors.Is(db.Ready(t.Context()), storage.ErrStopped))
				err := db.KV().Update(t.Context(), put("later", "1"))
				is.True(errors.Is(err, imagegen.ErrNotApplied))
				is.True(errors.Is(err, storage.ErrStopped))
				err = db.Stage(t.Context(), "ref_1", strings.NewReader("x"))
				is.True(errors.Is(err, storage.ErrStopped))
				is.Equal(get(t, db, "first"), "1") // what was durable can be read
				is.True(exists(dir, "unclean"))
			})
			db := openDir(t, dir, nil)
			is.Equal(get(t, db, "first")+get(t, db, "later"), "1")
			is.True(!exists(dir, "unclean")) // the file was checked and found intact
		})
	}
}

// bbolt shows a transaction once it is written, though the flush after that may fail.
func TestAReaderSeesOnlyWhatIsDurable(t *testing.T) {
	bubble(t, t.TempDir(), func(t *testing.T, db *storage.DB) {
		is := is.New(t)
		written, flush := make(chan struct{}), make(chan error)
		db.SetCommit(func(commit func() error) error {
			if err := commit(); err != nil {
				return err
			}
			written <- struct{}{}
			return <-flush
		})
		wrote, read := make(chan error, 2), make(chan error, 2)
		write := func(key string) { wrote <- db.KV().Update(t.Context(), put(key, "1")) }
		seen := ""
		view := func() {
			read <- db.KV().View(t.Context(), func(tx kv.Tx) error {
				seen = string(tx.Get(shelf, []byte("a"))) + string(tx.Get(shelf, []byte("b")))
				return nil
			})
		}
		go write("a")
		<-written
		go view()
		synctest.Wait()
		is.Equal(len(read), 0) // it waits for the flush
		flush <- nil
		is.NoErr(<-wrote)
		is.NoErr(<-read)
		is.Equal(seen, "1")

		go write("b")
		<-written
		go view()
		flush <- syscall.EIO
		is.True(errors.Is(<-wrote, storage.ErrOutcomeUnknown))
		is.True(errors.Is(<-read, storage.ErrStopped)) // rather than what may be gone after a restart
		is.Equal(seen, "1")
	})
}

func TestAFullDiskIsSurvived(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	db := openDir(t, dir, nil)
	is.True(exists(dir, "ballast"))
	full := true
	commits := 0
	db.SetCommit(func(commit func() error) error {
		commits++
		if full && exists(dir, "ballast") || commits > 2 && full {
			return writeError(syscall.ENOSPC)
		}
		return commit()
	})
	is.NoErr(db.KV().Update(t.Context(), put("a", "1"))) // the ballast made room for it
	is.Equal(commits, 2)
	is.True(!exists(dir, "ballast"))

	err := db.KV().Update(t.Context(), put("b", "1"))
	is.True(errors.Is(err, imagegen.ErrNotApplied))
	is.True(strings.Contains(err.Error(), "no space is left on the disk"))
	is.NoErr(db.Err()) // it goes on

	full = false
	is.NoErr(db.KV().Update(t.Context(), put("c", "1")))
	is.Equal(get(t, db, "a")+get(t, db, "b")+get(t, db, "c"), "11")
}

// A transaction that had no space to be written but shows to readers may not be gone.
func TestAFullDiskThatShowsWhatItDidNotWrite(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	db := openDir(t, dir, nil)
	db.SetCommit(func(commit func() error) error {
		is.NoErr(commit())
		return writeError(syscall.ENOSPC)
	})
	is.True(errors.Is(db.KV().Update(t.Context(), put("a", "1")), storage.ErrOutcomeUnknown))
	is.True(errors.Is(db.Err(), storage.ErrStopped))
	err := db.KV().View(t.Context(), func(kv.Tx) error { return nil })
	is.True(errors.Is(err, storage.ErrStopped)) // rather than wait for what will never be durable
}

// A refusal is answered without a commit. The commit that follows bears the number that it had, and shows
// no sooner than any other.
func TestAReaderBehindARefusal(t *testing.T) {
	bubble(t, t.TempDir(), func(t *testing.T, db *storage.DB) {
		is := is.New(t)
		flush := make(chan struct{})
		db.SetCommit(func(commit func() error) error {
			err := commit()
			<-flush
			return err
		})
		is.Equal(db.KV().Update(t.Context(), func(kv.Tx) error { return imagegen.ErrExists }), imagegen.ErrExists)
		wrote, read := make(chan error, 1), make(chan error, 1)
		go func() { wrote <- db.KV().Update(t.Context(), put("a", "1")) }()
		synctest.Wait() // written, and not flushed
		go func() { read <- db.KV().View(t.Context(), func(kv.Tx) error { return nil }) }()
		synctest.Wait()
		is.Equal(len(read), 0)
		close(flush)
		is.NoErr(errors.Join(<-wrote, <-read))
	})
}

// A directory for images counts as made once its name is flushed: where that fails, it is flushed again.
func TestADirectoryWhoseNameIsNotFlushed(t *testing.T) {
	w := work(t, open(t, nil))
	r := newRecord(1)
	key := r.ImageKey(stored(r, pixels(1)))
	w.SetFlush(func(string, func() error) error { return syscall.EIO })
	w.is.True(imagegen.Definite(w.PutImage(t.Context(), key, bytes.NewReader(pixels(1)))))
	var flushed []string
	w.SetFlush(func(dir string, real func() error) error { flushed = append(flushed, dir); return real() })
	w.is.NoErr(w.PutImage(t.Context(), key, bytes.NewReader(pixels(1))))
	w.is.True(slices.Contains(flushed, "images"))
	flushed = nil
	w.is.NoErr(w.PutImage(t.Context(), key, bytes.NewReader(pixels(1))))
	w.is.True(!slices.Contains(flushed, "images")) // it is durable now
}

// A reference image that is kept has a durable name: on some filesystems the flush of a file does not flush that.
func TestKeepFlushesNames(t *testing.T) {
	w := work(t, open(t, nil))
	var flushed []string
	w.SetFlush(func(dir string, real func() error) error { flushed = append(flushed, dir); return real() })
	w.is.NoErr(w.Stage(t.Context(), "ref_1", bytes.NewReader(pixels(1))))
	w.is.Equal(len(flushed), 0) // there is no hurry
	w.is.NoErr(w.Keep(t.Context(), "ref_1"))
	w.is.Equal(flushed, []string{"spool"})
	w.SetFlush(func(string, func() error) error { return syscall.EIO })
	w.is.True(errors.Is(w.Keep(t.Context(), "ref_1"), syscall.EIO))
}
