//go:build unix

package backups

import (
	"errors"
	"os"
)

// SyncDir makes the names in a directory durable: a file whose bytes are on the disk can still lose its name.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
