package storage

import (
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

// settle makes durable what a database shows, before anybody reads it or writes to it. The page that names
// the last transaction may not be on the disk: the process before did not flush it, or that failed, after which
// the kernel does not write it again. So it is written once more, as it is, and flushed; all else was flushed
// before it was written.
//
// A commit would not do. It may reuse pages which the last transaction has freed, and as long as that is not
// on the disk, a power cut leaves the one before it, which needs them.
func settle(bolt *bbolt.DB) error {
	f, err := os.OpenFile(bolt.Path(), os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	err = rewriteMeta(f, bolt)
	if survivable(err) { // where even what is there takes space to write; nobody writes then
		err = nil
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("%w: %v", ErrOutcomeUnknown, err)
	}
	return nil
}

// rewriteMeta writes the page that names the transaction which a database shows, as it is.
func rewriteMeta(f *os.File, bolt *bbolt.DB) error {
	return bolt.View(func(t *bbolt.Tx) error {
		page := make([]byte, bolt.Info().PageSize)
		at := int64(t.ID()%2) * int64(len(page)) // by turns the first and the second
		if _, err := f.ReadAt(page, at); err != nil {
			return err
		}
		_, err := f.WriteAt(page, at)
		return err
	})
}
