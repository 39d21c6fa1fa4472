//go:build unix

package admin_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
)

// There is no moment at which others can connect, whatever the process lets them do with other files.
func TestSocketNeverWasOthers(t *testing.T) {
	is := is.New(t)
	defer syscall.Umask(syscall.Umask(0))
	path := filepath.Join(t.TempDir(), "s")
	l, err := admin.Bind(path)
	is.NoErr(err)
	defer l.Close()
	info, err := os.Stat(path)
	is.NoErr(err)
	is.Equal(info.Mode().Perm()&0o077, os.FileMode(0))
	is.Equal(syscall.Umask(0), 0) // and other files are made as before
}

func TestDirectoryThatEverybodyCanChange(t *testing.T) {
	is := is.New(t)
	dir := filepath.Join(t.TempDir(), "my data")
	is.NoErr(os.Mkdir(dir, 0o700))
	is.NoErr(os.Chmod(dir, 0o777))
	_, err := admin.Open(t.Context(), dir)
	refused(t, err, "everybody can change the data directory")
	refused(t, err, "mode 0777")
	refused(t, err, "chmod 700 '"+dir+"'")
}
