//go:build unix

package private

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another process has locked the directory.
var ErrLocked = errors.New("another process has the directory")

// Lock locks a directory against other processes that call Lock, until release or the end of the process, however it
// ends. It does not wait: ErrLocked if the lock is taken, also within this process. The file .lock stays.
func Lock(dir string) (release func() error, err error) {
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}
