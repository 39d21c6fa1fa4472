//go:build unix

package adminserver_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// There is no moment at which others can connect, whatever the process lets them do with other files.
func TestSocketNeverWasOthers(t *testing.T) {
	is := is.New(t)
	defer syscall.Umask(syscall.Umask(0))
	path := filepath.Join(t.TempDir(), "s")
	l, err := adminserver.Bind(path)
	is.NoErr(err)
	defer l.Close()
	info, err := os.Stat(path)
	is.NoErr(err)
	is.Equal(info.Mode().Perm()&0o077, os.FileMode(0))
	is.Equal(syscall.Umask(0), 0) // and other files are made as before
}

// Also while somebody answers there, who may be anybody.
func TestDirectoryThatEverybodyCanChange(t *testing.T) {
	is := is.New(t)
	dir := filepath.Join(t.TempDir(), "my data")
	is.NoErr(os.Mkdir(dir, 0o700))
	is.NoErr(os.Chmod(dir, 0o777))
	open := func() {
		t.Helper()
		_, err := adminserver.Open(t.Context(), in(dir))
		refused(t, err, "everybody can change the data directory", "mode 0777", "chmod 700 '"+dir+"'")
	}
	open()
	l, err := adminserver.Bind(filepath.Join(dir, "admin.sock"))
	is.NoErr(err)
	defer l.Close()
	open()
}

// Only its owner may change a database in a directory that others can enter.
func TestDatabaseThatEverybodyCanChange(t *testing.T) {
	for name, c := range map[string]struct {
		dir, file os.FileMode
		want      string // "": it is opened
	}{
		"others may enter":     {0o755, 0o666, "everybody can change"},
		"and may only read":    {0o755, 0o644, ""},
		"nobody else may":      {0o700, 0o666, ""},
		"a group may change":   {0o770, 0o660, ""},
		"others may only pass": {0o711, 0o602, "mode 0602"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			dir := t.TempDir()
			db, err := storage.Open(dir, nil)
			is.NoErr(err)
			is.NoErr(db.Close())
			is.NoErr(os.Chmod(filepath.Join(dir, "imagegen.db"), c.file))
			is.NoErr(os.Chmod(dir, c.dir))
			s, err := adminserver.Open(t.Context(), in(dir))
			if c.want != "" {
				refused(t, err, c.want)
				refused(t, err, "chmod o-w "+filepath.Join(dir, "imagegen.db"))
				return
			}
			is.NoErr(err)
			is.NoErr(s.Close())
		})
	}
}
