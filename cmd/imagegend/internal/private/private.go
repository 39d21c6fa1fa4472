// Package private keeps to files and directories that nobody else can tamper with.
package private

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/shell"
)

const (
	// othersRead are the permissions by which others could learn a secret, or set another one. A group
	// may read it: that is how secrets are handed to a process of another user.
	othersRead = 0o027
	// othersWrite is the permission by which everybody could replace what lies in a directory.
	othersWrite = 0o002
	// othersEnter is the permission by which everybody can reach what lies in a directory.
	othersEnter = 0o001
)

// ReadFile reads a secret's file, at most most bytes of it. A file that others can read or change is
// refused. What the operating system has to say is a *[fs.PathError].
func ReadFile(path string, most int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if mode := info.Mode().Perm(); HasModes && mode&othersRead != 0 {
		return "", fmt.Errorf("others can read or change %s (mode %04o); run chmod 600 %s", path, mode, shell.Quote(path))
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	return string(text), err
}

// CheckDir refuses a data directory in which everybody could replace or change database and images. One that
// is not there yet is fine.
func CheckDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return nil // whoever opens it finds better words
	}
	mode := info.Mode().Perm()
	switch {
	case !HasModes || !info.IsDir():
		return nil
	case mode&othersWrite != 0:
		return fmt.Errorf("everybody can change the data directory %s (mode %04o); run chmod 700 %s", dir, mode, shell.Quote(dir))
	case mode&othersEnter != 0:
		return checkEntries(dir)
	}
	return nil
}

// checkEntries refuses what everybody can change in a directory that everybody can enter.
func checkEntries(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // as above
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path) // of a link, what it leads to
		if err != nil {
			continue // it is gone
		}
		if mode := info.Mode().Perm(); mode&othersWrite != 0 {
			return fmt.Errorf("everybody can change %s in the data directory (mode %04o); run chmod o-w %s", path, mode, shell.Quote(path))
		}
	}
	return nil
}

// CheckOwn refuses a file that another user placed, or everybody can change. Those of root are fine.
func CheckOwn(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); HasModes && mode&othersWrite != 0 {
		return fmt.Errorf("everybody can change it (mode %04o)", mode)
	}
	if !own(info) {
		return errors.New("it belongs to another user")
	}
	return nil
}
