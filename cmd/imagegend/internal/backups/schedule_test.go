package backups_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/backups"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// service is what is backed up: an archive takes it some time, and may fail.
type service struct {
	mu sync.Mutex

	takes   time.Duration
	fails   error
	under   atomic.Int32
	overlap bool
	begun   []time.Time
}

func (s *service) write(ctx context.Context, w io.Writer) error {
	s.overlap = s.overlap || s.under.Add(1) > 1
	defer s.under.Add(-1)
	s.mu.Lock()
	s.begun = append(s.begun, time.Now())
	takes, fails := s.takes, s.fails
	s.mu.Unlock()
	if _, err := io.WriteString(w, "an archive"); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(takes):
		return fails
	}
}

// set changes what it does from the next archive on.
func (s *service) set(takes time.Duration, fails error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takes, s.fails = takes, fails
}

// count is how many archives were begun.
func (s *service) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.begun)
}

// whole takes every archive for a good one.
func whole(_ context.Context, r io.Reader, _ string) error {
	text, err := io.ReadAll(r)
	if err == nil && string(text) != "an archive" {
		err = errors.New("it is another file")
	}
	return err
}

func roomy(string) (storage.Space, error) {
	return storage.Space{Free: 1 << 40, Reserve: 64 << 20}, nil
}

func options(dir string, s *service) backups.Options {
	return backups.Options{Dir: dir, Every: 6 * time.Hour, Keep: 3, Write: s.write, Restore: whole, Space: roomy,
		Log: slog.New(slog.DiscardHandler)}
}

// run has a schedule run for some time.
func run(t *testing.T, o backups.Options, d time.Duration) backups.State {
	t.Helper()
	s, err := backups.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	s.Run(ctx)
	state := s.State()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return state
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	is.New(t).NoErr(err)
	for _, e := range entries {
		if e.Name() != ".lock" {
			all = append(all, e.Name())
		}
	}
	return all
}

func TestEverySoOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		dir, s := filepath.Join(t.TempDir(), "backups"), &service{takes: time.Hour}
		started := time.Now()
		state := run(t, options(dir, s), 26*time.Hour)
		is.Equal(len(s.begun), 5) // at 0, 6, 12, 18 and 24 hours, of which the last ended
		is.Equal(s.begun[4].Sub(started), 24*time.Hour)
		is.Equal(names(t, dir), []string{"imagegend-20000101T120000.000Z.tar", "imagegend-20000101T180000.000Z.tar",
			"imagegend-20000102T000000.000Z.tar"})
		is.Equal(state.Archives, 3)
		is.Equal(state.Last, backups.Archive{Name: "imagegend-20000102T000000.000Z.tar", At: s.begun[4].UTC(),
			Size: 10})
		is.Equal(state.Failure, "")

		s.begun = nil // the next process goes on where this one ended, 2 h after the last
		run(t, options(dir, s), 6*time.Hour)
		is.Equal(len(s.begun), 1)
		is.Equal(s.begun[0].Sub(started), 30*time.Hour)
	})
}

func TestNeverTwoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		s := &service{takes: 10 * time.Hour}
		run(t, options(t.TempDir(), s), 35*time.Hour)
		is.True(!s.overlap)
		is.Equal(len(s.begun), 4) // one after the other
	})
}

// A clock that was years ahead does not keep backups from being made for as long.
func TestArchiveOfTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		dir, s := t.TempDir(), &service{}
		is.NoErr(os.WriteFile(filepath.Join(dir, "imagegend-20300101T120000.000Z.tar"), nil, 0o600))
		run(t, options(dir, s), time.Minute)
		is.Equal(len(s.begun), 1)
	})
}

// Nor do as many archives of the future as are kept push out each new one, unnoticed.
func TestArchivesOfTheFuture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		dir, s := t.TempDir(), &service{}
		ahead := []string{"imagegend-20300101T120000.000Z.tar", "imagegend-20300101T180000.000Z.tar",
			"imagegend-20300102T000000.000Z.tar"}
		for _, name := range ahead {
			is.NoErr(os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		}
		state := run(t, options(dir, s), 19*time.Hour)
		made := []string{"imagegend-20000101T060000.000Z.tar", "imagegend-20000101T120000.000Z.tar",
			"imagegend-20000101T180000.000Z.tar"}
		is.Equal(names(t, dir), append(made, ahead...))
		is.Equal(state.Last.Name, made[2])
		is.True(state.Trouble(state.Last.At, state.Last.At.Add(13*time.Hour)) != "")
	})
}

func TestFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		dir, service := t.TempDir(), &service{fails: errors.New("image_1: its file is missing")}
		s, err := backups.New(t.Context(), options(dir, service))
		is.NoErr(err)
		warns := func(want string) {
			t.Helper()
			var said string
			for _, w := range s.Warnings(t.Context()) {
				is.Equal(w.Code, "backup")
				said += w.Detail
			}
			if !strings.Contains(said, want) || (said == "") != (want == "") {
				t.Errorf("it warns of %q, want %q", said, want)
			}
		}
		warns("")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); s.Run(ctx) }()
		time.Sleep(time.Hour + time.Minute)
		is.Equal(service.count(), 5) // every quarter of an hour
		is.Equal(len(names(t, dir)), 0)
		warns("the last backup failed: image_1: its file is missing; no good one is known")

		service.set(0, nil)
		time.Sleep(15 * time.Minute)
		warns("")
		is.Equal(s.State().Archives, 1)
		service.set(0, errors.New("no room"))
		time.Sleep(6 * time.Hour)
		warns("no room; the last good one is of 2000-01-01T01:15:00Z")
		is.Equal(len(names(t, dir)), 1) // the good one stays

		service.set(time.Hour, nil)
		time.Sleep(15*time.Minute + time.Second)
		cancel()
		<-ended
		is.Equal(len(names(t, dir)), 1) // what was under way is gone
		warns("no room")                // and is neither a failure nor a success
		is.NoErr(s.Close())
	})
}

// Archives that somebody has removed are not taken for backups that exist.
func TestArchivesThatAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		dir, service := t.TempDir(), &service{}
		s, err := backups.New(t.Context(), options(dir, service))
		is.NoErr(err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); s.Run(ctx) }()
		time.Sleep(time.Hour)
		is.Equal(names(t, dir), []string{s.State().Last.Name})
		is.NoErr(os.Remove(filepath.Join(dir, s.State().Last.Name)))
		service.set(0, errors.New("no room"))
		time.Sleep(6 * time.Hour)
		cancel()
		<-ended
		is.Equal(s.State().Archives, 0)
		is.Equal(s.State().Last, backups.Archive{})
		is.True(strings.Contains(s.Trouble(), "no good one is known"))
		is.NoErr(s.Close())
	})
}

func TestOverdue(t *testing.T) {
	is := is.New(t)
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	never := backups.State{Every: time.Hour}
	is.Equal(never.Trouble(began, began.Add(2*time.Hour)), "")
	is.Equal(never.Trouble(began, began.Add(3*time.Hour)),
		"backups should be made every 1h0m0s, and no good one is known")
	old := backups.State{Every: time.Hour, Last: backups.Archive{At: began}}
	is.Equal(old.Trouble(began.Add(time.Hour), began.Add(3*time.Hour)),
		"backups should be made every 1h0m0s, and the last good one is of 2026-01-01T00:00:00Z")
	is.Equal(backups.State{}.Trouble(began, began.Add(1000*time.Hour)), "") // there are to be none
}

// A backup that cannot be restored does not get the name of an archive.
func TestBrokenArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		dir := t.TempDir()
		o := options(dir, &service{})
		o.Restore = nil // that of storage
		state := run(t, o, time.Minute)
		is.True(strings.Contains(state.Failure, "what was written could not be restored"))
		is.Equal(len(names(t, dir)), 0)
	})
}

func TestNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		dir, s := t.TempDir(), &service{}
		is.NoErr(os.WriteFile(filepath.Join(dir, "imagegend-19990101T120000.000Z.tar"), make([]byte, 1<<20), 0o600))
		o := options(dir, s)
		free := int64(65 << 20)
		o.Space = func(string) (storage.Space, error) { return storage.Space{Free: free, Reserve: 64 << 20}, nil }
		is.True(strings.Contains(run(t, o, time.Minute).Failure, "65 MiB free"))
		is.Equal(len(s.begun), 0)
		free = 66 << 20
		is.Equal(run(t, o, time.Minute).Failure, "")
	})
}

// An archive that turns out larger than the disk has room for is broken off, and so is its verification.
func TestRoomRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		const mebibyte = 1 << 20
		dir, written := t.TempDir(), int64(0)
		o := options(dir, &service{})
		o.Write = func(_ context.Context, w io.Writer) error {
			for range 100 {
				n, err := w.Write(make([]byte, mebibyte))
				written += int64(n)
				if err != nil {
					return err
				}
			}
			return nil
		}
		o.Restore = func(context.Context, io.Reader, string) error { panic("it takes room too") }
		for disk, writes := range map[int64]bool{100 * mebibyte: false, 264*mebibyte - 1: true} {
			written = 0
			o.Space = func(string) (storage.Space, error) {
				return storage.Space{Free: disk - written, Reserve: 64 * mebibyte}, nil
			}
			is.True(strings.Contains(run(t, o, time.Minute).Failure, "make room"))
			is.Equal(written == 100*mebibyte, writes)
			is.Equal(len(names(t, dir)), 0)
		}
	})
}

func TestDirectoryIsOwn(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.Mkdir(filepath.Join(dir, ".imagegend-1.scratch"), 0o700))
	for _, name := range []string{".imagegend-1.partial", ".imagegend-1.scratch/imagegen.db", "imagegend-mine.tar",
		"letter.txt"} {
		is.NoErr(os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	s, err := backups.New(t.Context(), options(dir, &service{}))
	is.NoErr(err)
	is.Equal(names(t, dir), []string{"imagegend-mine.tar", "letter.txt"}) // what is not its own stays
	is.Equal(s.State().Archives, 0)
	_, err = backups.New(t.Context(), options(dir, &service{}))
	is.True(err != nil && strings.Contains(err.Error(), "another process makes its backups in "+dir))
	is.NoErr(s.Close())

	is.NoErr(os.Chmod(dir, 0o777))
	_, err = backups.New(t.Context(), options(dir, &service{}))
	is.True(err != nil && strings.Contains(err.Error(), "everybody can change"))
}

// The archives can be restored, with everything that was backed up.
func TestArchivesAreBackups(t *testing.T) {
	is := is.New(t)
	db, err := storage.Open(t.TempDir(), nil)
	is.NoErr(err)
	defer db.Close()
	_, err = db.Grant(t.Context(), imagegen.Grant{User: "usr_1", Credits: 7})
	is.NoErr(err)
	dir := t.TempDir()
	s, err := backups.New(t.Context(), backups.Options{Dir: dir, Every: time.Hour, Keep: 1, Write: db.Backup,
		Log: slog.New(slog.DiscardHandler)})
	is.NoErr(err)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for s.State() == (backups.State{Dir: dir, Every: time.Hour, Keep: 1}) {
			time.Sleep(time.Millisecond)
		}
	}()
	s.Run(ctx)
	is.Equal(s.State().Failure, "")
	is.True(slices.Equal(names(t, dir), []string{s.State().Last.Name}))
	f, err := os.Open(filepath.Join(dir, s.State().Last.Name))
	is.NoErr(err)
	defer f.Close()
	restored := filepath.Join(t.TempDir(), "restored")
	is.NoErr(storage.Restore(t.Context(), f, restored))
	again, err := storage.Open(restored, nil)
	is.NoErr(err)
	defer again.Close()
	b, err := again.Balance(t.Context(), "usr_1")
	is.NoErr(err)
	is.Equal(b.Credits, imagegen.Credits(7))
	is.NoErr(s.Close())
}

// A restore from the directory of the backups names the newest one in its error.
func TestDirectoryIsNoArchive(t *testing.T) {
	is, dir := is.New(t), t.TempDir()
	_, err := backups.OpenArchive(t.Context(), dir)
	is.True(err != nil && strings.Contains(err.Error(), "is a directory without backups"))
	for _, name := range []string{"imagegend-20261123T060000.000Z.tar", "imagegend-20261122T060000.000Z.tar",
		"other.tar"} {
		is.NoErr(os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	_, err = backups.OpenArchive(t.Context(), dir)
	is.True(err != nil && strings.HasSuffix(err.Error(), "is not an archive; the newest archive there is "+
		filepath.Join(dir, "imagegend-20261123T060000.000Z.tar")))
}
