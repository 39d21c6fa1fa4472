package storage_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// closedDir is a directory with a database in which alice has ten credits.
func closedDir(t *testing.T) string {
	t.Helper()
	is, dir := is.New(t), filepath.Join(t.TempDir(), "data")
	db, err := storage.Open(dir, nil)
	is.NoErr(err)
	_, err = db.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 10})
	is.NoErr(err)
	is.NoErr(db.Close())
	return dir
}

// tamper changes the file of a directory that is closed.
func tamper(t *testing.T, dir string, change func(tx *bbolt.Tx) error) {
	t.Helper()
	is := is.New(t)
	bolt, err := bbolt.Open(filepath.Join(dir, "imagegen.db"), 0o600, nil)
	is.NoErr(err)
	is.NoErr(bolt.Update(change))
	is.NoErr(bolt.Close())
}

// refused checks that a directory is not opened, with an error that names it.
func refused(t *testing.T, dir string, o *storage.Options, want error) {
	t.Helper()
	db, err := storage.Open(dir, o)
	if err == nil {
		_ = db.Close()
	}
	if !errors.Is(err, want) {
		t.Fatalf("got %v; want %v", err, want)
	}
	if !strings.Contains(err.Error(), dir) {
		t.Errorf("the error does not name %s: %v", dir, err)
	}
}

func TestOpenKeepsWhatIsThere(t *testing.T) {
	is, dir := is.New(t), closedDir(t)
	db := openDir(t, dir, &storage.Options{MustExist: true})
	b, err := db.Balance(t.Context(), "alice")
	is.NoErr(err)
	is.Equal(b.Credits, imagegen.Credits(10))
	is.NoErr(db.Ready(t.Context()))
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	is, dir := is.New(t), closedDir(t)
	is.NoErr(filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		is.NoErr(err)
		is.Equal(info.Mode().Perm()&0o077, os.FileMode(0))
		return nil
	}))
}

func TestAWrongDirectoryIsAnError(t *testing.T) {
	t.Run("absent", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "typo")
		refused(t, dir, &storage.Options{MustExist: true}, storage.ErrNoDatabase)
		if exists(dir) {
			t.Error("it was made")
		}
	})
	t.Run("files without their database", func(t *testing.T) {
		is, dir := is.New(t), closedDir(t)
		is.NoErr(os.Remove(filepath.Join(dir, "imagegen.db")))
		refused(t, dir, nil, storage.ErrNoDatabase)
		is.True(!exists(dir, "imagegen.db"))
	})
	t.Run("hidden files are nobody's", func(t *testing.T) {
		is, dir := is.New(t), t.TempDir()
		is.NoErr(os.WriteFile(filepath.Join(dir, ".keep"), nil, 0o600))
		openDir(t, dir, nil)
	})
}

func TestOneProcessAtATime(t *testing.T) {
	dir := closedDir(t)
	openDir(t, dir, nil)
	refused(t, dir, nil, storage.ErrLocked)
}

// Of processes that start at once in an empty directory, one makes the database, and one opens it.
func TestBeginningAtOnce(t *testing.T) {
	is, dir := is.New(t), filepath.Join(t.TempDir(), "data")
	var (
		running sync.WaitGroup
		dbs     [8]*storage.DB
		errs    [8]error
	)
	for i := range dbs {
		running.Go(func() { dbs[i], errs[i] = storage.Open(dir, nil) })
	}
	running.Wait()
	opened := 0
	for i, db := range dbs {
		if errs[i] == nil {
			opened++
			is.NoErr(db.Close())
			continue
		}
		if !errors.Is(errs[i], storage.ErrLocked) {
			t.Error(errs[i])
		}
	}
	is.Equal(opened, 1)
}

func TestANewerSchemaIsRefused(t *testing.T) {
	dir := closedDir(t)
	tamper(t, dir, func(tx *bbolt.Tx) error {
		newer := binary.BigEndian.AppendUint64(nil, uint64(storage.Schema()+1))
		return tx.Bucket([]byte("storage")).Put([]byte("schema"), storage.Stored("storage", []byte("schema"), newer))
	})
	refused(t, dir, nil, storage.ErrNewerSchema)
}

// copyShelf is a migration that copies the shelf to another.
func copyShelf(tx kv.Tx) (err error) {
	tx.Ascend(shelf, nil, func(key, value []byte) bool {
		if string(value) == "damaged" {
			err = errors.New("it cannot be read")
			return false
		}
		tx.Put("shelf 2", key, value)
		return true
	})
	return err
}

func copied(t *testing.T, db *storage.DB) (copies string) {
	t.Helper()
	is.New(t).NoErr(db.KV().View(t.Context(), func(tx kv.Tx) error {
		tx.Ascend("shelf 2", nil, func(key, value []byte) bool {
			copies += string(key) + "=" + string(value) + " "
			return true
		})
		return nil
	}))
	return copies
}

// shelved is a closed directory of a former schema with some values.
func shelved(t *testing.T, values ...string) (dir string) {
	t.Helper()
	is, dir := is.New(t), closedDir(t)
	db := openDir(t, dir, nil)
	for n, value := range values {
		is.NoErr(db.KV().Update(t.Context(), put(fmt.Sprint(n), value)))
	}
	is.NoErr(db.Close())
	return dir
}

// A database is brought to the schema of this version, once.
func TestAnOlderSchemaIsBroughtUp(t *testing.T) {
	is, dir := is.New(t), shelved(t, "a", "b", "c", "d", "e")
	defer storage.Migrate(copyShelf)()
	db := openDir(t, dir, nil)
	is.Equal(copied(t, db), "0=a 1=b 2=c 3=d 4=e ")
	is.NoErr(db.KV().Update(t.Context(), put("0", "changed")))
	is.NoErr(db.Close())
	is.Equal(copied(t, openDir(t, dir, nil)), "0=a 1=b 2=c 3=d 4=e ")
}

func TestAnOlderSchemaThatIsDamagedStays(t *testing.T) {
	dir := shelved(t, "a", "damaged")
	defer storage.Migrate(copyShelf)()
	for range 2 {
		refusedWith(t, dir, fmt.Sprintf("could not be brought to schema %d: it cannot be read", storage.Schema()))
	}
}

func refusedWith(t *testing.T, dir, why string) {
	t.Helper()
	is := is.New(t)
	db, err := storage.Open(dir, nil)
	if err == nil {
		_ = db.Close()
		t.Fatal("it was opened")
	}
	is.True(strings.Contains(err.Error(), why))
	is.True(strings.Contains(err.Error(), dir))
}

func TestADamagedFileIsRefused(t *testing.T) {
	file := func(dir string) string { return filepath.Join(dir, "imagegen.db") }
	for name, damage := range map[string]func(t *testing.T, dir string) error{
		"empty":     func(_ *testing.T, dir string) error { return os.Truncate(file(dir), 0) },
		"a page":    func(_ *testing.T, dir string) error { return os.Truncate(file(dir), 4096) },
		"cut short": func(_ *testing.T, dir string) error { return os.Truncate(file(dir), 3*4096) },
		"no database": func(_ *testing.T, dir string) error {
			return os.WriteFile(file(dir), []byte(strings.Repeat("not a database", 10_000)), 0o600)
		},
		"another program's": func(t *testing.T, dir string) error {
			tamper(t, dir, func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("storage")) })
			return nil
		},
		"schema": func(t *testing.T, dir string) error {
			tamper(t, dir, func(tx *bbolt.Tx) error {
				return tx.Bucket([]byte("storage")).Put([]byte("schema"), []byte("12345678"))
			})
			return nil
		},
		"found by the check after a fault": func(_ *testing.T, dir string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "unclean"), nil, 0o600), breakPages(file(dir)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			is, dir := is.New(t), closedDir(t)
			is.NoErr(damage(t, dir))
			refused(t, dir, nil, storage.ErrCorrupt)
			is.True(exists(dir, "imagegen.db"))
		})
	}
}

// breakPages overwrites everything in a file but the pages that say what it is.
func breakPages(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	page := os.Getpagesize()
	for at := int64(2*page) + 16; at < info.Size(); at += int64(page) {
		if _, err := f.WriteAt([]byte{0xff, 0xff, 0xff, 0xff}, at); err != nil {
			return err
		}
	}
	return f.Close()
}

func TestADamagedValueIsAnErrorWhereItIsRead(t *testing.T) {
	is, dir := is.New(t), closedDir(t)
	db := openDir(t, dir, nil)
	is.NoErr(db.KV().Update(t.Context(), put("a", "right")))
	is.NoErr(db.KV().Update(t.Context(), put("b", "right")))
	is.NoErr(db.Close())
	tamper(t, dir, func(tx *bbolt.Tx) error { // a's value at b's place
		return tx.Bucket([]byte(shelf)).Put([]byte("b"), tx.Bucket([]byte(shelf)).Get([]byte("a")))
	})
	db = openDir(t, dir, nil)
	is.Equal(get(t, db, "a"), "right")
	read := map[string]func(tx kv.Tx){
		"get":     func(tx kv.Tx) { tx.Get(shelf, []byte("b")) },
		"ascend":  func(tx kv.Tx) { tx.Ascend(shelf, nil, func(_, _ []byte) bool { return true }) },
		"descend": func(tx kv.Tx) { tx.Descend(shelf, nil, func(_, _ []byte) bool { return true }) },
	}
	for name, read := range read {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			f := func(tx kv.Tx) error { read(tx); return nil }
			err := db.KV().View(t.Context(), f)
			is.True(errors.Is(err, storage.ErrCorrupt))
			is.True(strings.Contains(err.Error(), `test "b"`)) // names it
			err = db.KV().Update(t.Context(), f)
			is.True(errors.Is(err, storage.ErrCorrupt))
			is.True(errors.Is(err, imagegen.ErrNotApplied))
		})
	}
}

// Images that were shown of work that a kill cuts short are there at the next start; others are removed.
func TestStartKeepsWhatWasShown(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	db := openDir(t, dir, nil)
	w := work(t, db)
	w.fund(10)
	r := newRecord(1)
	r.N = 3
	r, err := w.CreateCharged(t.Context(), r, time.Minute)
	is.NoErr(err)
	var images []imagegen.StoredImage
	for n, end := range []string{"A", "B"} {
		i := stored(r, pixels(n))
		i.ID = i.ID[:len(i.ID)-1] + imagegen.ImageID(end)
		is.NoErr(w.PutImage(t.Context(), r.ImageKey(i), bytes.NewReader(pixels(n))))
		images = append(images, i)
	}
	_, err = w.Update(t.Context(), r.Fence(), imagegen.ShowChange{Images: images[:1]})
	is.NoErr(err)
	is.NoErr(db.Close())
	w = work(t, openDir(t, dir, nil))
	f, err := w.OpenImage(t.Context(), r.ImageKey(images[0]))
	is.NoErr(err)
	is.NoErr(f.Close())
	_, err = w.OpenImage(t.Context(), r.ImageKey(images[1]))
	is.True(errors.Is(err, imagegen.ErrNotFound))
	w.clean()
}
