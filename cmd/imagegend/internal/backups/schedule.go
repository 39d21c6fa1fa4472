// Package backups makes backups of a running service, one after the other. Each is restored into a scratch
// directory before it gets its name, so that what has the name of an archive is one.
package backups

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// again is how long after a failure it is tried again, unless a backup is due earlier.
const again = 15 * time.Minute

// Options says where backups go, how often, and how many are kept.
type Options struct {
	Dir   string // for this service alone, where archives are made; made if it is absent
	Store Store  // where they lie then. nil: Dir
	Every time.Duration
	Keep  int // how many archives there are at most, from 1
	// Write writes an archive.
	Write func(context.Context, io.Writer) error
	// Restore makes an empty directory the data directory of an archive, or finds what is wrong with it. nil:
	// storage.Restore.
	Restore func(ctx context.Context, r io.Reader, dir string) error
	// Space tells of the room on a disk. nil: storage.SpaceOf.
	Space func(dir string) (storage.Space, error)
	Log   *slog.Logger
}

// State tells of the backups of a service. Times are zero where there is nothing to tell.
type State struct {
	Dir      string // or the address of a bucket
	Every    time.Duration
	Keep     int
	Archives int       // that there are
	Last     Archive   // the newest
	FailedAt time.Time // since the newest, the last one that failed
	Failure  string    // why
}

// Schedule makes backups while Run runs. All methods of a nil Schedule, which makes none, do nothing. It is safe for
// concurrent use.
type Schedule struct {
	Options
	began   time.Time
	release func() error

	mu    sync.Mutex
	state State
}

// patience is how long a start waits for a Store to tell what it holds.
const patience = 5 * time.Second

// New takes a directory for backups, and removes what a process that was killed has left in it. Close gives it
// back. An error says what is wrong with the directory: everybody can change it, or another process has it. A Store
// that does not answer is a failure of which State tells, since the service does not need it.
func New(ctx context.Context, o Options) (*Schedule, error) {
	if o.Store == nil {
		o.Store = directory(o.Dir)
	}
	if o.Restore == nil {
		o.Restore = storage.Restore
	}
	if o.Space == nil {
		o.Space = func(dir string) (storage.Space, error) { return storage.SpaceOf(dir, nil) }
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("the directory for backups cannot be made: %w", err)
	}
	if err := private.CheckDir(o.Dir); err != nil {
		return nil, fmt.Errorf("backups: %w", err)
	}
	release, err := private.Lock(o.Dir)
	if errors.Is(err, private.ErrLocked) {
		return nil, fmt.Errorf("another process makes its backups in %s; name a directory of its own with --backup-to", o.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("the directory for backups cannot be written: %w", err)
	}
	s := &Schedule{Options: o, began: time.Now(), release: release}
	s.state = State{Dir: o.Store.String(), Every: o.Every, Keep: o.Keep}
	if err := removeLeftovers(o.Dir); err != nil {
		return nil, errors.Join(err, release())
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := s.look(ctx); err != nil {
		s.note(Archive{}, err)
	}
	return s, nil
}

// Close lets another process have the directory. Run has ended.
func (s *Schedule) Close() error {
	if s == nil {
		return nil
	}
	return s.release()
}

// State tells how the backups stand. It is cheap. The zero State: there are to be none.
func (s *Schedule) State() State {
	if s == nil {
		return State{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// look takes the state from what there is.
func (s *Schedule) look(ctx context.Context) error {
	all, err := list(ctx, s.Store)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Archives = len(all)
	if len(all) > 0 {
		s.state.Last = all[len(all)-1]
	}
	return nil
}

// Run makes a backup when one is due, until ctx ends: one Every after the beginning of the last, at once if there is
// none. They never overlap; one that takes longer is followed by the next.
func (s *Schedule) Run(ctx context.Context) {
	if s == nil {
		return
	}
	for wait := s.first(time.Now()); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		began := time.Now()
		err := s.once(ctx, began)
		if ctx.Err() != nil { // what it broke off is made again by the next process
			return
		}
		wait = max(0, s.Every-time.Since(began))
		if err != nil {
			wait = min(wait, again)
		}
	}
}

// first is how long after the start the first backup is due.
func (s *Schedule) first(now time.Time) time.Duration {
	age := now.Sub(s.State().Last.At)
	if age < 0 { // the clock was ahead then
		return 0
	}
	return max(0, s.Every-age)
}

// once makes a backup, and notes what became of it.
func (s *Schedule) once(ctx context.Context, at time.Time) error {
	made, err := s.make(ctx, at)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.note(made, err)
	if err != nil {
		s.Log.ErrorContext(ctx, "the backup failed", "to", s.Store.String(), "error", err)
		return err
	}
	s.Log.InfoContext(ctx, "a backup was made and verified", "file", made.Name, "bytes", made.Size, "seconds", time.Since(at).Seconds())
	if err := s.prune(ctx); err != nil {
		s.Log.WarnContext(ctx, "old backups could not be removed", "from", s.Store.String(), "error", err)
	}
	return nil
}

func (s *Schedule) note(made Archive, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.state.FailedAt, s.state.Failure = time.Now(), err.Error()
		return
	}
	s.state.Last, s.state.FailedAt, s.state.Failure = made, time.Time{}, ""
	s.state.Archives++
}

// Warnings tells of a backup that failed or is too old, for engine.Config.
func (s *Schedule) Warnings(context.Context) []imagegen.Notice {
	if why := s.Trouble(); why != "" {
		return []imagegen.Notice{{Code: "backup", Detail: why}}
	}
	return nil
}

// Trouble is that of the state at present.
func (s *Schedule) Trouble() string {
	if s == nil {
		return ""
	}
	return s.State().Trouble(s.began, time.Now())
}

// Trouble says what is wrong: the last backup failed, or is older than two of the times between them; "" if nothing
// is. began is since when backups are made.
func (s State) Trouble(began, now time.Time) string {
	since := s.Last.At
	if since.IsZero() {
		since = began
	}
	last := "no good one is known"
	if !s.Last.At.IsZero() {
		last = "the last good one is of " + s.Last.At.UTC().Format(time.RFC3339)
	}
	switch {
	case s.Every == 0:
		return ""
	case s.Failure != "":
		return fmt.Sprintf("the last backup failed: %s; %s", s.Failure, last)
	case now.Sub(since) > 2*s.Every:
		return fmt.Sprintf("backups should be made every %v, and %s", s.Every, last)
	}
	return ""
}
