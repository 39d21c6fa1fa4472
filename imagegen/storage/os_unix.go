//go:build unix

package storage

import (
	"errors"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// mapGrowsFile: here a map larger than its file takes up no space.
const mapGrowsFile = false

// diskBytes returns how many bytes this process can still write to the disk of a directory, and the size of
// that disk. Blocks that only root may use do not count as free.
func diskBytes(dir string) (free, total int64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), nil
}

// otherOwner is the uid of the user who owns a path; "" if that is the user of this process, or if it is
// not known. It returns no name, since package os/user would bring in a C library.
func otherOwner(path string) string {
	var s unix.Stat_t
	if unix.Lstat(path, &s) != nil || int(s.Uid) == os.Geteuid() {
		return ""
	}
	return strconv.FormatUint(uint64(s.Uid), 10)
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncOpenDir(d), d.Close())
}

func syncOpenDir(d *os.File) error {
	err := d.Sync()
	if errors.Is(err, syscall.EINVAL) { // the filesystem cannot flush directories, and need not
		return nil
	}
	return err
}
