package storage

import (
	"os"

	"golang.org/x/sys/unix"
)

// allocate takes up space on the disk for a file, without writing where the filesystem can do that.
func allocate(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if err == unix.EOPNOTSUPP {
		return writeZeros(f, size)
	}
	return err
}
