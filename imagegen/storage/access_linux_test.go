package storage_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"github.com/imagegend/imagegend/imagegen/storage"
)

// withoutPrivileges takes from this test what root may do with everybody's files.
func withoutPrivileges(t *testing.T) {
	t.Helper()
	const nobody = 65534
	runtime.LockOSThread()
	if _, err := unix.SetfsuidRetUid(nobody); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Setfsuid(os.Geteuid())
		runtime.UnlockOSThread()
	})
}

func TestADirectoryThatMayNotBeUsed(t *testing.T) {
	is, parent := is.New(t), t.TempDir()
	is.NoErr(os.Chmod(filepath.Dir(parent), 0o755)) // which testing keeps from other users
	dir := filepath.Join(parent, "data")
	is.NoErr(os.Mkdir(dir, 0))
	is.NoErr(os.Chmod(parent, 0o555))
	t.Cleanup(func() { os.Chmod(parent, 0o755); os.Chmod(dir, 0o755) })
	withoutPrivileges(t)
	for _, o := range []*storage.Options{nil, {MustExist: true}} {
		_, err := storage.Open(dir, o)
		says(t, err, "may not use the data directory "+dir)
		is.True(errors.Is(err, fs.ErrPermission))
	}
	_, err := storage.Open(filepath.Join(parent, "new"), nil)
	says(t, err, filepath.Join(parent, "new")+" cannot be made", "may not write to "+parent)
}
