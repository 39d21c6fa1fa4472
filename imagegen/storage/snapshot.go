package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// snapshot is a copy of the database as it was at one moment, in a file of its own, so that it can be read for
// hours. A read of the database itself that takes so long would keep it from reusing any page.
type snapshot struct {
	file *os.File
	size int64
}

// copyDatabase makes a snapshot, which the caller discards. look is called first and sees the database at the same
// moment. What a killed process leaves of a snapshot is removed at the next start.
func (db *DB) copyDatabase(ctx context.Context, look func(*tx) error) (_ *snapshot, err error) {
	file, err := os.CreateTemp(filepath.Join(db.dir, tempDir), "snapshot-")
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	s := &snapshot{file: file}
	defer func() {
		if err != nil {
			s.discard()
		}
	}()
	return s, db.file.view(ctx, func(t *tx) error {
		if err := look(t); err != nil {
			return err
		}
		if err := db.space.forCopy(t.bolt.Size()); err != nil {
			return err
		}
		return s.copyFrom(ctx, t.bolt)
	})
}

// viewCopy makes a snapshot, calls look on it, opened as a database, and discards it. The live database is read only
// while it is copied.
func (db *DB) viewCopy(ctx context.Context, look func(*bbolt.Tx) error) error {
	s, err := db.copyDatabase(ctx, func(*tx) error { return nil })
	if err != nil {
		return err
	}
	defer s.discard()
	bolt, err := s.openCopy()
	if err != nil {
		return err
	}
	return errors.Join(bolt.View(look), bolt.Close())
}

// copyFrom copies the database that t shows, with zeros in place of free pages.
func (s *snapshot) copyFrom(ctx context.Context, t *bbolt.Tx) error {
	live, err := os.Open(t.DB().Path())
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	defer live.Close()
	to := &zeroFreePages{w: contextWriter{ctx, &unhurried{file: s.file}}, file: live,
		pageSize: int64(t.DB().Info().PageSize)}
	s.size, err = t.WriteTo(to)
	if kv.IsFull(err) {
		err = errNoSpace
	}
	if err != nil {
		// bbolt does not wrap what it met
		return fmt.Errorf("storage: the database cannot be copied: %w", cmp.Or(ctx.Err(), err))
	}
	return nil
}

// openCopy opens a snapshot as the database that it is.
func (s *snapshot) openCopy() (*bbolt.DB, error) {
	path := s.file.Name()
	bolt, err := openMapped(path, &bbolt.Options{Timeout: time.Second, ReadOnly: true, PreLoadFreelist: true,
		FreelistType: bbolt.FreelistMapType, NoStatistics: true})
	return bolt, openError(path, err)
}

func (s *snapshot) discard() { _ = errors.Join(s.file.Close(), os.Remove(s.file.Name())) }

// unhurried flushes a file every maxPending bytes while it is written. Otherwise the flush of a commit could have to
// wait until the disk has taken up gigabytes of the copy.
type unhurried struct {
	file    *os.File
	pending int
}

// maxPending is how many bytes are written between two flushes.
const maxPending = 8 << 20

// Write implements io.Writer.
func (u *unhurried) Write(p []byte) (n int, err error) {
	n, err = u.file.Write(p)
	if u.pending += n; err == nil && u.pending >= maxPending {
		u.pending = 0
		err = u.file.Sync()
	}
	return n, err
}
