package storage

import (
	"os"

	"golang.org/x/sys/windows"
)

// mapGrowsFile: here a file is extended to the size of its map.
const mapGrowsFile = true

// freeBytes is what this process can still write to the disk of a directory.
func freeBytes(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(free), nil
}

// Directories cannot be flushed here; NTFS keeps a journal of its names.
func syncDir(string) error { return nil }

func syncOpenDir(*os.File) error { return nil }
