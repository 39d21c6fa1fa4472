package storage_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

func TestUpkeep(t *testing.T) {
	dir := t.TempDir()
	bubble(t, dir, func(t *testing.T, db *storage.DB) {
		is := is.New(t)
		_, err := db.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 5, Expires: time.Now().Add(time.Hour)})
		is.NoErr(err)
		is.NoErr(os.Remove(filepath.Join(dir, "ballast"))) // as a full disk does
		time.Sleep(2 * time.Hour)
		entries, err := db.History(t.Context(), "alice", 0, 10)
		is.NoErr(err)
		is.Equal(len(entries), 2)
		is.Equal(entries[0].Kind, imagegen.EntryExpire) // written off without anybody asking
		is.True(exists(dir, "ballast"))
	})
}

// A directory that nobody had open for a weekend shows no leap of the clock: only the log says
// so.
func TestPause(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		is, w := is.New(t), work(t, openDir(t, dir, nil))
		w.fund(10)
		w.finish(w.begin(1), pixels(1))
		is.NoErr(w.Close())
	})
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		time.Sleep(60 * time.Hour)
		var log strings.Builder
		db := openDir(t, dir, &storage.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		is.Equal(strings.Count(log.String(), "gap=60h0m0s"), 1)
		_, doubt := db.ClockInDoubt()
		is.True(!doubt)
		is.NoErr(db.Ready(t.Context()))
		is.Equal(db.Now(), time.Now().UTC().Round(0))
		_, err := db.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 1})
		is.NoErr(err)
		entries, err := db.History(t.Context(), "alice", 0, 1)
		is.NoErr(err)
		is.Equal(entries[0].Time, time.Now().UTC().Round(0))
	})
}

// Nor is a machine that slept.
func TestSleepIsLogged(t *testing.T) {
	is := is.New(t)
	var log strings.Builder
	db := openDir(t, t.TempDir(), &storage.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	db.NoteSleep(time.Minute)
	is.Equal(log.String(), "")
	db.NoteSleep(60 * time.Hour)
	is.Equal(strings.Count(log.String(), "gap=60h0m0s"), 1)
	is.NoErr(db.Ready(t.Context()))
}

// A clock that was set back while nobody had the directory open is in doubt, and the storage takes
// work all the same.
func TestClockThatIsBehind(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		is, w := is.New(t), work(t, openDir(t, dir, nil))
		time.Sleep(time.Hour)
		w.fund(10)
		is.NoErr(w.Close())
	})
	synctest.Test(t, func(t *testing.T) { // whose clock begins anew
		is, db, start := is.New(t), openDir(t, dir, nil), time.Now().UTC().Round(0)
		leap, doubt := db.ClockInDoubt()
		is.True(doubt)
		is.Equal(leap, -time.Hour)
		is.NoErr(db.Ready(t.Context()))
		is.Equal(db.Now(), start.Add(time.Hour))
		is.NoErr(db.ConfirmClock(t.Context()))
		_, doubt = db.ClockInDoubt()
		is.True(!doubt)
		is.Equal(db.Now(), start)
	})
}

// A doubt that began within the last minute, or ended in it, outlasts a clean stop too.
func TestDoubtAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	var ahead time.Duration
	options := &storage.Options{Now: func() time.Time { return time.Now().Add(ahead) }}
	reopen := func(t *testing.T, then time.Duration) (doubted bool) {
		synctest.Test(t, func(t *testing.T) {
			is, db := is.New(t), openDir(t, dir, options)
			_, doubted = db.ClockInDoubt()
			time.Sleep(time.Second)
			ahead = then
			is.NoErr(db.Close())
		})
		return doubted
	}
	is := is.New(t)
	is.True(!reopen(t, 25*time.Hour))
	is.True(reopen(t, 0))
	is.True(!reopen(t, 0))
}
