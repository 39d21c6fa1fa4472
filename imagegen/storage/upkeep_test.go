package storage_test

import (
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

func TestAClockThatJumpsIsNotReady(t *testing.T) {
	is := is.New(t)
	var ahead atomic.Int64
	db := open(t, &storage.Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	_, err := db.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 5})
	is.NoErr(err)
	is.NoErr(db.Ready(t.Context()))
	ahead.Store(int64(48 * time.Hour))
	err = db.Ready(t.Context())
	is.True(err != nil && strings.Contains(err.Error(), "48h"))
	is.NoErr(db.ConfirmClock(t.Context()))
	is.NoErr(db.Ready(t.Context()))
}
