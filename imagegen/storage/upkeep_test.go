package storage_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
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

// While the clock is in doubt no work is taken and nothing that is old by it is erased; the log says so.
func TestAClockThatJumps(t *testing.T) {
	is := is.New(t)
	var log strings.Builder
	var ahead atomic.Int64
	options := &storage.Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
		Log: slog.New(slog.NewTextHandler(&log, nil))}
	dir := t.TempDir()
	db := openDir(t, dir, options)
	_, err := db.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 5})
	is.NoErr(err)
	is.NoErr(db.Ready(t.Context()))
	is.NoErr(db.Close())
	is.Equal(log.String(), "")

	ahead.Store(int64(48 * time.Hour))
	db = openDir(t, dir, options)
	err = db.Ready(t.Context())
	is.True(err != nil && strings.Contains(err.Error(), "48h"))
	_, err = db.CreateCharged(t.Context(), newRecord(1), time.Hour)
	is.True(errors.Is(err, imagegen.ErrNotApplied))
	_, err = db.Create(t.Context(), newRecord(1), time.Hour)
	is.True(errors.Is(err, imagegen.ErrNotApplied))
	_, err = db.Ended(t.Context(), time.Now(), 1)
	is.True(err != nil)
	is.NoErr(db.ConfirmClock(t.Context()))
	is.NoErr(db.Ready(t.Context()))
	_, err = db.CreateCharged(t.Context(), newRecord(1), time.Hour)
	is.NoErr(err)
	_, err = db.Ended(t.Context(), time.Now(), 1)
	is.NoErr(err)
	is.NoErr(db.Close())
	is.True(strings.Contains(log.String(), "the clock is in doubt"))
}
