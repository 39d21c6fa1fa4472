package storage_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/storage"
)

func TestLeaps(t *testing.T) {
	imagegentest.Leaps(t, func(t *testing.T, wall func() time.Time) func() imagegentest.TimedStore {
		dir := t.TempDir()
		return func() imagegentest.TimedStore { return openDir(t, dir, &storage.Options{Now: wall}) }
	})
}

// A clock that ran fast from the first start on is in doubt once it is right, also if that process was killed at once.
func TestFastClockBeforeAKill(t *testing.T) {
	is, ctx := is.New(t), t.Context()
	dir, left := t.TempDir(), filepath.Join(t.TempDir(), "left")
	ahead := 5 * 365 * 24 * time.Hour
	wall := func() time.Time { return time.Now().Add(ahead) }
	s := account.SignIn{Hash: [32]byte{1}, User: "usr_1"}
	db := openDir(t, dir, &storage.Options{Now: wall})
	s.CreatedAt, s.SeenAt = db.Now(), db.Now()
	is.NoErr(db.CreateSignIn(ctx, s))
	is.NoErr(os.CopyFS(left, os.DirFS(dir))) // as a kill leaves it

	ahead = 0
	db = openDir(t, left, &storage.Options{Now: wall})
	_, doubt := db.ClockInDoubt()
	is.True(doubt)
	is.NoErr(db.ConfirmClock(ctx))
	ahead = 50 * time.Minute
	is.NoErr(db.EndSignInsAged(ctx, 30*time.Minute, 12*time.Hour))
	all, err := db.SignIns(ctx, "usr_1")
	is.NoErr(err)
	is.Equal(len(all), 0)
}
