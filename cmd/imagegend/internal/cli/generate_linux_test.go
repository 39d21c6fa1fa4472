package cli_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/cli"
	"github.com/imagegend/imagegend/internal/privdroptest"
)

// A target that this user may not write is refused before anything is paid for.
func TestGenerateTriesWhatItMay(t *testing.T) {
	is := is.New(t)
	env := newService(t, func(_ http.ResponseWriter, r *http.Request) bool {
		t.Errorf("%s %s was asked for", r.Method, r.URL.Path)
		return false
	})
	is.NoErr(os.Mkdir("closed", 0o555))
	is.NoErr(os.WriteFile("kept.png", nil, 0o400))
	here, err := os.Getwd()
	is.NoErr(err)
	is.NoErr(os.Chmod(filepath.Dir(here), 0o755)) // which testing keeps from other users
	privdroptest.Become(t)
	got := imagegend(t, env, "generate", "fox", "-o", filepath.Join("closed", "fox.png"))
	is.Equal(got.code, cli.ExitError)
	says(t, got.stderr, "nothing can be written in the directory closed: permission denied")
	got = imagegend(t, env, "generate", "fox", "-o", "kept.png")
	is.Equal(got.code, cli.ExitError)
	says(t, got.stderr, "kept.png cannot be written: permission denied")
}

// Where nothing is saved, nothing need be written.
func TestGenerateNoWaitInADirectoryOfOthers(t *testing.T) {
	is := is.New(t)
	env := newService(t, nil)
	is.NoErr(os.Chmod(".", 0o555))
	privdroptest.Become(t)
	got := imagegend(t, env, "generate", "fox", "--size", "64x64", "--no-wait")
	is.Equal(got.stderr, "")
	is.Equal(got.code, cli.ExitOK)
	says(t, got.stdout, "gen_")
}

// Where nothing is charged, nothing is said of it.
func TestGenerateDevCannotSave(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	is.NoErr(os.Symlink("/dev/full", "fox.png"))
	got := imagegend(t, nil, "generate", "fox", "--dev", "--size", "64x64", "-o", "fox.png")
	is.Equal(got.code, cli.ExitError)
	says(t, got.stderr, "the images could not be saved", "no space left")
	is.True(!strings.Contains(got.stderr, "charged"))
	to, err := os.Readlink("fox.png") // a device is nothing to clean up
	is.NoErr(err)
	is.Equal(to, "/dev/full")
}
