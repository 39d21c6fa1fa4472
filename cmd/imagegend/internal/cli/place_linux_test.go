package cli

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/matryer/is"
)

// A pipe is written to, and stays when an image breaks off.
func TestSaveToAPipe(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	is.NoErr(syscall.Mkfifo("fox.png", 0o600))
	reader, err := os.OpenFile("fox.png", os.O_RDWR, 0) // so that nobody waits for the other end
	is.NoErr(err)
	defer reader.Close()
	broken := errors.New("the connection broke")
	_, err = saveAs("fox.png", broken)
	is.True(errors.Is(err, broken))
	_, err = saveAs("fox.png", nil)
	is.NoErr(err)
	got := make([]byte, 16)
	n, err := reader.Read(got)
	is.NoErr(err)
	is.Equal(string(got[:n]), "newnew")
	info, err := os.Lstat("fox.png")
	is.NoErr(err)
	is.Equal(info.Mode().Type(), os.ModeNamedPipe)
}
