package storage_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/storage"
)

// says checks that an error names what was typed, and not a file that is made on the way.
func says(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
	if strings.Contains(err.Error(), "imagegen.db") {
		t.Errorf("%q names a file that nobody typed", err)
	}
}

func TestAFileForADirectory(t *testing.T) {
	is, file := is.New(t), filepath.Join(t.TempDir(), "afile")
	is.NoErr(os.WriteFile(file, nil, 0o600))
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		for _, o := range []*storage.Options{nil, {MustExist: true}} {
			_, err := storage.Open(dir, o)
			says(t, err, file+" is not a directory")
		}
		says(t, storage.Restore(t.Context(), bytes.NewReader(nil), dir), file+" is not a directory")
	}
}
