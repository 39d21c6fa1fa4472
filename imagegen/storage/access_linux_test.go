package storage_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/internal/privdroptest"
)

func TestADirectoryThatMayNotBeUsed(t *testing.T) {
	is, parent := is.New(t), t.TempDir()
	is.NoErr(os.Chmod(filepath.Dir(parent), 0o755)) // which testing keeps from other users
	dir := filepath.Join(parent, "data")
	is.NoErr(os.Mkdir(dir, 0))
	is.NoErr(os.Chmod(parent, 0o555))
	t.Cleanup(func() { os.Chmod(parent, 0o755); os.Chmod(dir, 0o755) })
	privdroptest.Become(t)
	for _, o := range []*storage.Options{nil, {MustExist: true}} {
		_, err := storage.Open(dir, o)
		says(t, err, "may not use the data directory "+dir)
		is.True(errors.Is(err, fs.ErrPermission))
	}
	_, err := storage.Open(filepath.Join(parent, "new"), nil)
	says(t, err, filepath.Join(parent, "new")+" cannot be made", "may not write to "+parent)
}
