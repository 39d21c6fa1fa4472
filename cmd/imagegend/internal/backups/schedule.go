// Package backups makes scheduled backups of a running service, one after the other. Each is restored and audited in
// a scratch directory before it gets its name, so that whatever has the name of an archive can be restored.
//
// A [Schedule] makes them, in a directory that it locks. A [Store] holds the finished ones: that directory, or a
// bucket. What an archive contains is the business of the function that writes it; see package storage. A backup that
// an operator makes by a command is none of this package's.
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

// again is how long after a failure the next try is, unless a backup is due earlier.
const again = 15 * time.Minute

// Options says where backups go, how often, and how many are kept.
type Options struct {
	Dir   string // where archives are made, for this service alone; created if absent
	Store Store  // where finished archives are kept; nil: Dir
	Every time.Duration
	Keep  int // how many archives to keep, at least 1
	// Write writes an archive. It must end soon after its context.
	Write func(context.Context, io.Writer) error
	// Restore turns an empty directory into the data directory of an archive, and returns an error if anything is
	// wrong with the archive. nil: storage.Restore.
	Restore func(ctx context.Context, r io.Reader, dir string) error
	// Space returns how much room a disk has. nil: storage.SpaceOf.
	Space func(dir string) (storage.Space, error)
	Log   *slog.Logger
}

// State describes the backups of a service. The zero State means that none are to be made.
type State struct {
	Dir      string // directory or address of a bucket
	Every    time.Duration
	Keep     int
	Archives int       // how many exist
	Last     Archive   // the newest
	FailedAt time.Time // last failure since the newest archive; zero: none
	Failure  string    // why
}

// Schedule makes backups while Run runs. A nil *Schedule is that of a service without backups: all its methods do
// nothing. Run must run once only; all else is safe for concurrent use.
type Schedule struct {
	Options
	began   time.Time    // since when backups are made, for Trouble
	release func() error // gives up the lock on Dir

	mu    sync.Mutex
	state State // guarded by mu
}

// patience is how long New waits for a Store to list its archives.
const patience = 5 * time.Second

// New locks the directory for backups and removes what a killed process has left in it; Close gives the lock up. An
// error says what is wrong with the directory: everybody can change it, or another process has it. A Store that does
// not answer is not an error, since the service works without it: State shows it like a failed backup. ctx bounds only
// this call.
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
		return nil, fmt.Errorf("another process makes its backups in %s; name a directory of its own with --backup-to",
			o.Dir)
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
		s.noteOutcome(Archive{}, err)
	}
	return s, nil
}

// Close gives up the lock on the directory. Run must have ended.
func (s *Schedule) Close() error {
	if s == nil {
		return nil
	}
	return s.release()
}

// State returns how the backups stand. It is cheap: it asks neither disk nor bucket.
func (s *Schedule) State() State {
	if s == nil {
		return State{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// look sets the number of archives, and the newest one, to what the Store holds: somebody else may have removed some.
// If the Store holds none but those of the future, Last is the zero Archive. After an error the State is as it was.
func (s *Schedule) look(ctx context.Context) error {
	all, err := listArchives(ctx, s.Store)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Archives, s.state.Last = len(all), Archive{}
	if past := Past(all, time.Now()); len(past) > 0 {
		s.state.Last = past[len(past)-1]
	}
	return nil
}

// Run makes a backup whenever one is due, until ctx ends. One is due at once if there is none, else Every after the
// last was begun. Backups never overlap: if one takes longer than Every, the next begins right after it. After a
// failure the next try is after 15 minutes at the latest.
func (s *Schedule) Run(ctx context.Context) {
	if s == nil {
		return
	}
	// The age of the last one is known from its name, so a restart neither skips nor repeats one.
	for wait := max(0, s.Every-time.Since(s.State().Last.At)); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		began := time.Now()
		err := s.once(ctx, began)
		if ctx.Err() != nil { // the next process makes what ctx interrupted
			return
		}
		wait = max(0, s.Every-time.Since(began))
		if err != nil {
			wait = min(wait, again)
		}
	}
}

// once makes one backup and notes the outcome. One that ctx interrupted is neither a success nor a failure. That old
// archives could not be removed is logged only: the new one is good.
func (s *Schedule) once(ctx context.Context, at time.Time) error {
	made, err := s.make(ctx, at)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.noteOutcome(made, err)
	if err != nil {
		s.Log.ErrorContext(ctx, "the backup failed", "to", s.Store.String(), "error", err)
		return err
	}
	s.Log.InfoContext(ctx, "a backup was made and verified", "file", made.Name, "bytes", made.Size, "seconds",
		time.Since(at).Seconds())
	if err := s.prune(ctx); err != nil {
		s.Log.WarnContext(ctx, "old backups could not be removed", "from", s.Store.String(), "error", err)
	}
	return nil
}

// noteOutcome records an outcome; a success clears an earlier failure.
func (s *Schedule) noteOutcome(made Archive, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.state.FailedAt, s.state.Failure = time.Now(), err.Error()
		return
	}
	s.state.Last, s.state.FailedAt, s.state.Failure = made, time.Time{}, ""
	s.state.Archives++
}

// Warnings returns a warning of readiness if a backup failed or is overdue. It is meant for engine.Config.
func (s *Schedule) Warnings(context.Context) []imagegen.Notice {
	if why := s.Trouble(); why != "" {
		return []imagegen.Notice{{Code: "backup", Detail: why}}
	}
	return nil
}

// Trouble says what is wrong at present, see [State.Trouble].
func (s *Schedule) Trouble() string {
	if s == nil {
		return ""
	}
	return s.State().Trouble(s.began, time.Now())
}

// Trouble says what is wrong: the last backup failed, or is more than twice Every old; "" if nothing is wrong. began
// is when backups began to be made, and counts while there is none.
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
