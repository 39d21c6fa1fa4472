package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	defaultMinFree = 64 << 20
	// ballastSize is set aside for settlements and refunds when the disk is full. A generation
	// writes a few pages of 4 KiB, so that it lasts for all that can be under way.
	ballastSize = 16 << 20
	// spaceAge is how long the free space is believed.
	spaceAge = time.Second
)

// space watches the disk, so that no work is begun that it could not hold.
type space struct {
	dir  string
	min  int64
	free func(dir string) (int64, error) // tests fill the disk

	mu    sync.Mutex
	at    time.Time
	last  int64
	taken int64 // by uploads since then
	err   error
}

// Space is the room on the disk of a directory, in bytes.
type Space struct {
	Free    int64 // that this process can write
	Total   int64
	Reserve int64 // below which new work is refused
}

// nearlyFull is how many times the space below which no work is taken is worth a warning.
const nearlyFull = 16

// Low reports whether new work is refused.
func (s Space) Low() bool { return s.Free < s.Reserve }

// NearlyFull reports whether an operator should make room.
func (s Space) NearlyFull() bool { return s.Free < nearlyFull*s.Reserve }

// Space returns how much room there is. It is cheap.
func (db *DB) Space() (Space, error) { return spaceOf(db.dir, db.space.min) }

// SpaceOf is Space for a directory that need not be open; o may be nil.
func SpaceOf(dir string, o *Options) (Space, error) { return spaceOf(dir, o.withDefaults().MinFree) }

// spaceOf asks the disk; space.left caches the answer for a second.
func spaceOf(dir string, reserve int64) (Space, error) {
	free, total, err := diskBytes(dir)
	if err != nil {
		return Space{}, fmt.Errorf("storage: the free space is not known: %w", err)
	}
	return Space{Free: free, Total: total, Reserve: reserve}, nil
}

func freeBytes(dir string) (int64, error) {
	free, _, err := diskBytes(dir)
	return free, err
}

// demand returns an error if fewer bytes are free.
func (s *space) demand(bytes int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left(bytes)
}

// left is demand under the lock.
func (s *space) left(bytes int64) error {
	if s.at.IsZero() || time.Since(s.at) >= spaceAge {
		s.last, s.err = s.free(s.dir)
		s.at, s.taken = time.Now(), 0
	}
	if s.err != nil {
		return fmt.Errorf("storage: the free space is not known: %w", s.err)
	}
	if free := s.last - s.taken; free < bytes {
		return fmt.Errorf("%w: %s has %d MiB free, new work is refused below %d MiB; make room", errNoSpace, s.dir, free>>20, bytes>>20)
	}
	return nil
}

// take is asked for each n bytes of a caller's upload. Those are refused earlier than anything else, and what
// they take counts at once: within the time for which the free space is believed, a disk can be filled.
func (s *space) take(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.left(2*s.min + n); err != nil {
		return err
	}
	s.taken += n
	return nil
}

// forWork is asked before anything is charged.
func (s *space) forWork() error { return s.demand(s.min) }

// forImage lies lower: a provider's image that passes through the spool is paid for.
func (s *space) forImage() error { return s.demand(s.min / 2) }

// forCopy is asked before the database is copied. What is set apart for work stays.
func (s *space) forCopy(size int64) error {
	free, err := s.free(s.dir)
	if err != nil {
		return fmt.Errorf("storage: the free space is not known: %w", err)
	}
	if free-s.min < size {
		return fmt.Errorf("%w: a copy of the database takes %d MiB for a while, and %s has %d MiB free, of which %d MiB are kept for work; make room and begin again",
			errNoSpace, mib(size), s.dir, free>>20, s.min>>20)
	}
	return nil
}

// mib rounds up.
func mib(bytes int64) int64 { return (bytes + 1<<20 - 1) >> 20 }

func (s *space) ballast() string { return filepath.Join(s.dir, ballastName) }

// dropBallast frees what was set aside; false: nothing was.
func (s *space) dropBallast() bool { return os.Remove(s.ballast()) == nil }

// layBallast sets space aside if none is and there is plenty.
func (s *space) layBallast() error {
	if _, err := os.Stat(s.ballast()); !errors.Is(err, os.ErrNotExist) || s.demand(s.min+2*ballastSize) != nil {
		return nil
	}
	f, err := os.CreateTemp(filepath.Join(s.dir, tempDir), ballastName)
	if err != nil {
		return err
	}
	if err := errors.Join(allocate(f, ballastSize), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), s.ballast())
}

// fill takes up space by writing, where it cannot be had without.
func fill(f *os.File, size int64) error {
	zeros := make([]byte, 1<<20)
	for ; size > 0; size -= int64(len(zeros)) {
		if _, err := f.Write(zeros); err != nil {
			return err
		}
	}
	return nil
}
