// Package private checks that nobody else can read or change files and directories, and locks a directory against
// other processes. It looks at permissions and owners, of which only Unix has any; elsewhere everything passes.
package private

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/shell"
)

const (
	// othersRead are the permissions with which others could read a secret or replace it. Reading by the group is
	// allowed: that is how a secret is handed to a process of another user.
	othersRead = 0o027
	// othersWrite is the permission with which everybody could replace what is in a directory.
	othersWrite = 0o002
	// othersEnter is the permission with which everybody can reach what is in a directory.
	othersEnter = 0o001
)

// ErrLocked says that another process has locked the directory.
var ErrLocked = errors.New("another process has the directory")

// ReadFile reads the file of a secret. It refuses a file that others can read or change. The permissions are those of
// the opened file, so that it cannot be exchanged in between. An error of the operating system is a *[fs.PathError].
func ReadFile(path string) (string, error) {
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
		return "", fmt.Errorf("others can read or change %s (mode %04o); run chmod 600 %s", path, mode,
			shell.Quote(path))
	}
	text, err := io.ReadAll(f)
	return string(text), err
}

// ReadLine is ReadFile for the first line of a file, without the line break: editors end a file with one, which does
// not belong to the secret.
func ReadLine(path string) (string, error) {
	text, err := ReadFile(path)
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSuffix(line, "\r"), err
}

// CheckDir refuses a data directory in which everybody could replace or change the database or images. A directory
// that does not exist is accepted.
func CheckDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return nil // opening it will say more
	}
	mode := info.Mode().Perm()
	switch {
	case !HasModes || !info.IsDir():
		return nil
	case mode&othersWrite != 0:
		return fmt.Errorf("everybody can change the data directory %s (mode %04o); run chmod 700 %s", dir, mode,
			shell.Quote(dir))
	case mode&othersEnter != 0:
		return checkEntries(dir)
	}
	return nil
}

// checkEntries refuses a directory with an entry that everybody can change. The directory is one that everybody can
// enter; in any other, nobody reaches the entries.
func checkEntries(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // opening it will say more
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path) // of what a link leads to
		if err != nil {
			continue // it was removed meanwhile, or is a link to nothing
		}
		if mode := info.Mode().Perm(); mode&othersWrite != 0 {
			return fmt.Errorf("everybody can change %s in the data directory (mode %04o); run chmod o-w %s", path, mode,
				shell.Quote(path))
		}
	}
	return nil
}

// CheckOwn refuses a file that belongs to another user or that everybody can change. A file of root's is accepted.
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

// Foreign returns an entry of a directory that belongs to another user than the directory itself; "" if there is none,
// or if that cannot be found out.
func Foreign(dir string) string {
	whose, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && !sameOwner(info, whose) {
			return filepath.Join(dir, e.Name())
		}
	}
	return ""
}
