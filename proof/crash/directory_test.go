package crash_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/imagegend/imagegend/imagegen/storage"
)

// roomy takes work on a small disk too.
var roomy = &storage.Options{MinFree: 1}

// scratch holds the directories of all worlds.
var scratch string

func TestMain(m *testing.M) {
	// in memory where the system has such a directory: nothing here cuts the power
	dir, err := os.MkdirTemp("/dev/shm", "crash-")
	if err != nil {
		dir, err = os.MkdirTemp("", "crash-")
	}
	if err != nil {
		panic(err)
	}
	scratch = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// pristine is an empty database, which lies beside the space that it has set aside. It is made only
// once, in the first second of a world's virtual time.
var pristine = sync.OnceValues(func() (p struct {
	dir   string
	bytes []byte // up to the last that is not zero
	size  int64
}, err error) {
	p.dir = filepath.Join(scratch, "pristine")
	db, err := storage.Open(p.dir, roomy)
	if err == nil {
		err = db.Close()
	}
	if err == nil {
		p.bytes, err = os.ReadFile(filepath.Join(p.dir, "imagegen.db"))
	}
	p.size = int64(len(p.bytes))
	p.bytes = bytes.TrimRight(p.bytes, "\x00")
	return p, err
})

// newDirectory is one with an empty database.
func newDirectory(t *testing.T) string {
	from, err := pristine()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(scratch, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Link(filepath.Join(from.dir, "ballast"), filepath.Join(dir, "ballast")); err != nil &&
		!os.IsNotExist(err) {
		t.Fatal(err)
	}
	database := filepath.Join(dir, "imagegen.db")
	if err := errors.Join(os.WriteFile(database, from.bytes, 0o600), os.Truncate(database, from.size)); err != nil {
		t.Fatal(err)
	}
	return dir
}
