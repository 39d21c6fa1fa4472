package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What lies in the directory; the package comment says what for.
const (
	databaseName = "imagegen.db"
	imagesDir    = "images"
	spoolDir     = "spool"
	tempDir      = "tmp"
	ballastName  = "ballast"
	uncleanName  = "unclean"
	runningName  = "running"

	// scratchPrefix begins the name of what is made before the directory is one: a database, or
	// what is being restored.
	scratchPrefix = ".new-"
)

// prepare makes sure that there is a database to open.
func prepare(dir string, mustExist bool) error {
	path := filepath.Join(dir, databaseName)
	_, err := os.Stat(path)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return unreachable(dir, err)
	case mustExist:
		return fmt.Errorf("%w: %s holds no %s; name the directory that the server uses", ErrNoDatabase, dir, databaseName)
	}
	if err = begin(dir); err == nil {
		return nil
	}
	if _, missing := os.Stat(path); missing == nil {
		return nil // another process has begun at the same time, and was quicker
	}
	return err
}

// begin makes a database in a directory that is absent or empty: files without their database are
// the remains of one, and beside them no second ledger is begun.
func begin(dir string) error {
	occupant, err := claim(dir)
	if err != nil {
		return err
	}
	if occupant != "" {
		return fmt.Errorf("%w: %s holds %s but no %s; name another directory, or an empty one to begin anew",
			ErrNoDatabase, dir, occupant, databaseName)
	}
	return createDatabase(dir)
}

// claim makes the directory if it is absent, and returns something that lies in it; "" if nothing
// does. Hidden files do not count.
func claim(dir string) (occupant string, err error) {
	if err := makeDir(dir); err != nil {
		return "", unmakeable(dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", unreachable(dir, err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && e.Name() != "lost+found" {
			return e.Name(), nil
		}
	}
	return "", nil
}

// makeDir makes a directory and its parents, so that they survive a power cut.
func makeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// syncPath flushes a file.
func syncPath(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
