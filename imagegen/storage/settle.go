package storage

import (
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

// settle makes durable what a database shows, before anybody reads it or writes to it. The page that names
// the last transaction may not be on the disk: the previous process was killed before it flushed the page, or
// the flush failed, after which the kernel does not write the page again. So it is written once more, unchanged,
// and flushed. Everything else that the transaction wrote was flushed before that page was written.
//
// A commit would not do instead. It may reuse pages that the last transaction freed. As long as that transaction
// is not on the disk, a power cut leaves the one before it, which needs those pages.
//
// (This is about the file; package imagegen settles charges.)
func settle(bolt *bbolt.DB) error {
	f, err := os.OpenFile(bolt.Path(), os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	err = rewriteMeta(f, bolt)
	// Some filesystems need space even to overwrite. On such a disk that is full no commit succeeds
	// either, so the start goes on with what is there.
	if survivable(err) {
		err = nil
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("%w: %v", ErrOutcomeUnknown, err)
	}
	return nil
}

// rewriteMeta writes again, unchanged, the page that names the transaction which a database shows.
func rewriteMeta(f *os.File, bolt *bbolt.DB) error {
	return bolt.View(func(t *bbolt.Tx) error {
		page := make([]byte, bolt.Info().PageSize)
		at := int64(t.ID()%2) * int64(len(page)) // transactions use the first and the second page in turn
		if _, err := f.ReadAt(page, at); err != nil {
			return err
		}
		_, err := f.WriteAt(page, at)
		return err
	})
}
