package survival_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// noLeftovers waits until there are no more files than before: they go after the answer has left.
func noLeftovers(t *testing.T, before []string, dirs ...string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		diff := cmp.Diff(before, leftovers(t, dirs...))
		if diff == "" {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("files are left (-before +now):\n%s", diff)
		case <-poll.C:
		}
	}
}

// thumbnails tells how many there are.
func thumbnails(t *testing.T, dir string) int {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "images", "*", "*-t"))
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// leftovers lists the files below directories, but the images that were generated.
func leftovers(t *testing.T, dirs ...string) (all []string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, os.ErrNotExist): // it went while we looked
				return nil
			case err != nil:
				return err
			case e.IsDir() && e.Name() == "images":
				return filepath.SkipDir
			case !e.IsDir():
				all = append(all, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return slices.Sorted(slices.Values(all))
}
