//go:build unix

package private

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// HasModes says whether permissions mean anything on this system.
const HasModes = true

// own reports whether a file belongs to this user or to root.
func own(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (s.Uid == 0 || int(s.Uid) == os.Geteuid())
}

// sameOwner reports whether two files belong to the same user.
func sameOwner(a, b fs.FileInfo) bool {
	one, ok := a.Sys().(*syscall.Stat_t)
	other, also := b.Sys().(*syscall.Stat_t)
	return !ok || !also || one.Uid == other.Uid
}

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
