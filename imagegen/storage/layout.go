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

	// scratchPrefix begins the temporary names of a database that is being created, or of an archive that is
	// being restored. They are hidden files, which claim does not count, and each start removes what is left.
	scratchPrefix = ".new-"
)

// prepare makes sure that there is a database to open. Several processes may call it for one directory at
// once: one of them creates the database, and the others find it.
func prepare(dir string, mustExist bool) error {
	path := filepath.Join(dir, databaseName)
	_, err := os.Stat(path)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return unreachable(dir, err)
	case mustExist:
		return fmt.Errorf("%w: %s holds no %s; name the directory that the server uses", ErrNoDatabase, dir,
			databaseName)
	}
	if err = createIn(dir); err == nil {
		return nil
	}
	if _, missing := os.Stat(path); missing == nil {
		return nil // another process started at the same time and was quicker
	}
	return err
}

// createIn makes a database in a directory that is absent or empty. Files without a database are what is
// left of one that was lost. A new, empty ledger beside them would hide the loss, so they are refused.
func createIn(dir string) error {
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

// claim makes the directory if it is absent, and returns the name of something in it; "" if it is
// empty. Hidden files do not count, nor does lost+found, which a fresh filesystem has.
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

// makeDir makes a directory and its missing parents, and flushes each name into the directory above it, so
// that they survive a power cut. It succeeds if the directory exists.
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

// syncPath flushes a file's contents; syncDir flushes its name.
func syncPath(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
