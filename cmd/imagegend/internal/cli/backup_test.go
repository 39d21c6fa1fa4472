package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"
)

func writeText(w io.Writer) error {
	_, err := io.WriteString(w, "new")
	return err
}

func TestWriteNew(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	path := filepath.Join(dir, "x.tar")
	is.NoErr(writeNew(path, writeText))
	text, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(string(text), "new")
	is.True(strings.Contains(writeNew(path, writeText).Error(), "exists already"))

	broken := errors.New("broken off")
	is.True(errors.Is(writeNew(filepath.Join(dir, "y.tar"), func(io.Writer) error { return broken }), broken))
	err = writeNew(filepath.Join(dir, "nodir", "x.tar"), writeText)
	is.True(err != nil)
	is.Equal(err.Error(), "there is no directory "+filepath.Join(dir, "nodir")+" to write x.tar in")
	left, err := os.ReadDir(dir)
	is.NoErr(err)
	is.Equal(len(left), 1) // no temporary file
}

// On a filesystem without links, a file that was written is kept.
func TestNameNewWithoutLinks(t *testing.T) {
	noLinks := func(from, to string) error { return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EPERM} }
	is, dir := is.New(t), t.TempDir()
	temp, path := filepath.Join(dir, ".x"), filepath.Join(dir, "x")
	is.NoErr(os.WriteFile(temp, []byte("new"), 0o600))
	is.NoErr(nameNew(temp, path, noLinks))
	text, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(string(text), "new")

	is.NoErr(os.WriteFile(temp, []byte("newer"), 0o600))
	for _, link := range []func(string, string) error{noLinks, os.Link} {
		err := nameNew(temp, path, link)
		is.True(err != nil && strings.Contains(err.Error(), "exists already"))
	}
	text, err = os.ReadFile(path)
	is.NoErr(err)
	is.Equal(string(text), "new") // replaced by nothing
}
