//go:build !linux

package storage

import "os"

// allocate takes up space on the disk for a file, by writing zeros.
func allocate(f *os.File, size int64) error { return writeZeros(f, size) }
