package storage

import (
	"os"

	"golang.org/x/sys/windows"
)

// mapGrowsFile: here a file is extended to the size of its map.
const mapGrowsFile = true

// diskBytes returns how many bytes this process can still write to the disk of a directory, and the size of
// that disk.
func diskBytes(dir string) (free, total int64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, 0, err
	}
	var available, all uint64
	if err := windows.GetDiskFreeSpaceEx(name, &available, &all, nil); err != nil {
		return 0, 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(available), int64(all), nil
}

// otherOwner names nobody: on Windows an access list says who may use a path, not one owner.
func otherOwner(string) string { return "" }

// Directories cannot be flushed on Windows; NTFS keeps a journal of its names.
func syncDir(string) error { return nil }

func syncOpenDir(*os.File) error { return nil }
