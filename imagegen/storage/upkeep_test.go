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

// While the clock is in doubt nothing that is old by it is erased, and the storage is not ready; the log
// says so.
func TestAClockThatJumps(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		is, w := is.New(t), work(t, openDir(t, dir, nil))
		w.fund(10)
		w.finish(w.begin(1), pixels(1))
		is.NoErr(w.Ready(t.Context()))
		is.NoErr(w.Close())
	})
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		time.Sleep(48 * time.Hour)
		var log strings.Builder
		db := openDir(t, dir, &storage.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		synctest.Wait()
		is.Equal(strings.Count(log.String(), "the clock is in doubt"), 1)
		err := db.Ready(t.Context())
		is.True(err != nil && strings.Contains(err.Error(), "48h"))
		old, err := db.Ended(t.Context(), epoch.Add(time.Hour), 10)
		is.NoErr(err)
		is.Equal(len(old), 0)
		time.Sleep(time.Hour)
		is.Equal(strings.Count(log.String(), "the clock is in doubt"), 1)

		is.NoErr(db.ConfirmClock(t.Context()))
		is.NoErr(db.Ready(t.Context()))
		old, err = db.Ended(t.Context(), epoch.Add(time.Hour), 10)
		is.NoErr(err)
		is.Equal(len(old), 1)
	})
}
