package storage_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/imagegend/imagegend/imagegen/storage"
)

// metas are the two pages that name the last transactions in the file of a directory.
func metas(t *testing.T, dir string) (pages [2][]byte) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(dir, "imagegen.db"))
	if err != nil {
		t.Fatal(err)
	}
	n := os.Getpagesize()
	return [2][]byte{file[:n], file[n : 2*n]}
}

// A process ends before its last transaction is on the disk, another one opens the file, and the power is
// cut before that is there either, but for whatever else was written. Then the transaction before it is whole,
// though the last one freed pages that it needs.
func TestAnOpeningSparesWhatAPowerCutMayLeave(t *testing.T) {
	dir := t.TempDir()
	for n := range 10 {
		w := work(t, openDir(t, dir, nil))
		w.fund(2)
		w.finish(w.begin(2*n), pixels(n))
		before := metas(t, dir)
		w.begin(2*n + 1)
		w.is.NoErr(w.Close())
		file := filepath.Join(dir, "imagegen.db")
		closed, err := os.ReadFile(file)
		w.is.NoErr(err)
		again := openDir(t, dir, &storage.Options{MustExist: true})
		opened, err := os.ReadFile(file)
		w.is.NoErr(err)
		if !bytes.Equal(opened, closed) { // bbolt may take all memory to check a file whose pages were reused
			t.Fatalf("opening %d has changed the file", n)
		}
		w.is.NoErr(again.Close())

		left, err := os.ReadFile(file)
		w.is.NoErr(err)
		copy(left, before[0])
		copy(left[len(before[0]):], before[1])
		after := t.TempDir()
		w.is.NoErr(os.WriteFile(filepath.Join(after, "imagegen.db"), left, 0o600))
		db, err := storage.Open(after, &storage.Options{MustExist: true}) // checks every page
		if err != nil {
			t.Fatalf("opening %d: %v", n, err)
		}
		w.is.NoErr(db.Close())
	}
}
