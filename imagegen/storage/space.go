package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	defaultMinFree = 64 << 20
	// ballastSize is set aside for settlements and refunds when the disk is full. To settle a
	// generation takes a few pages of 4 KiB, so it is enough for all work that can be under way.
	ballastSize = 16 << 20
	// spaceAge is how long a look at the free space is used, since every request needs one.
	spaceAge = time.Second
)

// space watches the disk, so that no work begins that the disk could not hold. It is safe for concurrent use.
//
// Requests have different thresholds, in this order: uploads stop first (take), then new work (forWork), then
// images that were paid for (forImage). Settlements and refunds ask nobody, and have the ballast besides.
type space struct {
	dir  string
	min  int64                           // Options.MinFree, in bytes
	free func(dir string) (int64, error) // tests fill the disk

	mu    sync.Mutex // guards the fields below
	at    time.Time  // when the disk was last looked at; zero: never
	last  int64      // bytes that were free then
	taken int64      // bytes of uploads since then
	err   error      // of that look
}

// Space is the space on the disk of a directory, in bytes.
type Space struct {
	Free    int64 // available to this process
	Total   int64
	Reserve int64 // Options.MinFree
}

// nearlyFull times the reserve is the free space below which there is a warning.
const nearlyFull = 16

// Low reports whether Free is below Reserve, so that new work is refused.
func (s Space) Low() bool { return s.Free < s.Reserve }

// NearlyFull reports whether Free is below 16 times Reserve: an operator should make room.
func (s Space) NearlyFull() bool { return s.Free < nearlyFull*s.Reserve }

// Space returns the space on the disk. It asks the system each time, which is cheap.
func (db *DB) Space() (Space, error) { return spaceOf(db.dir, db.space.min) }

// SpaceOf is DB.Space for a directory that need not be open. Of o, which may be nil, it uses MinFree.
func SpaceOf(dir string, o *Options) (Space, error) { return spaceOf(dir, o.withDefaults().MinFree) }

// spaceOf asks the system how much room there is.
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

// demand returns an error if fewer bytes are free, or if nobody knows how many are.
func (s *space) demand(bytes int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left(bytes)
}

// left is demand for callers that hold the lock. It looks at the disk at most once a second; what uploads have
// taken since then counts as used.
func (s *space) left(bytes int64) error {
	if s.at.IsZero() || time.Since(s.at) >= spaceAge {
		s.last, s.err = s.free(s.dir)
		s.at, s.taken = time.Now(), 0
	}
	if s.err != nil {
		return &imagegen.NotReadyError{Code: "disk", Err: fmt.Errorf("storage: the free space is not known: %w", s.err)}
	}
	if free := s.last - s.taken; free < bytes {
		return &imagegen.NotReadyError{Code: "disk",
			Err: fmt.Errorf("%w: %s has %d MiB free, new work is refused below %d MiB; make room",
				errNoSpace, s.dir, free>>20, bytes>>20)}
	}
	return nil
}

// reserve is called before each n bytes of a caller's upload are written. Uploads are refused earlier than anything
// else, since callers send them for free. What they take counts at once: within the second for which a look at
// the disk is used, they could fill it.
func (s *space) reserve(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.left(2*s.min + n); err != nil {
		return err
	}
	s.taken += n
	return nil
}

// forWork is called before anything is charged.
func (s *space) forWork() error { return s.demand(s.min) }

// forImage has a lower threshold: an image of a provider that passes through the spool is paid for.
func (s *space) forImage() error { return s.demand(s.min / 2) }

// forCopy is called before the database is copied, with its size. A copy may not use the reserve, which is kept for
// work. It looks at the disk anew, since copies are rare and large.
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

// mib is a number of bytes in MiB, rounded up.
func mib(bytes int64) int64 { return (bytes + 1<<20 - 1) >> 20 }

func (s *space) ballast() string { return filepath.Join(s.dir, ballastName) }

// dropBallast frees the ballast; false: there was none, or it cannot be removed.
func (s *space) dropBallast() bool { return os.Remove(s.ballast()) == nil }

// layBallast sets space aside if there is no ballast and plenty of room. It is made under a temporary name, so
// that a ballast that exists is complete. Too little room is not an error.
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

// writeZeros takes up space by writing zeros, where the system has no cheaper way. size is a multiple of 1 MiB.
func writeZeros(f *os.File, size int64) error {
	zeros := make([]byte, 1<<20)
	for ; size > 0; size -= int64(len(zeros)) {
		if _, err := f.Write(zeros); err != nil {
			return err
		}
	}
	return nil
}
