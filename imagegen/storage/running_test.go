package storage_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// Answers of the last ten seconds before a kill may have been received by no caller.
func TestAnswersOfAProcessThatWasKilled(t *testing.T) {
	for name, c := range map[string]struct {
		killed bool
		want   int
	}{
		"killed": {true, 2},
		"closed": {false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			dir := t.TempDir()
			db, err := storage.Open(dir, nil)
			is.NoErr(err)
			w := work(t, db)
			w.fund(10)
			for n, before := range []time.Duration{time.Minute, 9 * time.Second, 11 * time.Second, 0} {
				w.endsBefore(n, before)
			}
			w.finish(w.begin(9), pixels(9))       // which nobody may join
			w.endsBefore(4, -50*365*24*time.Hour) // by a clock that was corrected since
			is.NoErr(db.Close())
			if c.killed {
				is.NoErr(os.WriteFile(filepath.Join(dir, "running"), nil, 0o600))
			}
			for range 2 { // the second process found them already
				db, err = storage.Open(dir, nil)
				is.NoErr(err)
				found, err := db.Undelivered(t.Context(), "alice", [32]byte{1})
				is.NoErr(err)
				is.Equal(len(found), c.want)
				report, err := db.Audit(t.Context())
				is.NoErr(err)
				is.True(report.Clean())
				is.NoErr(db.Close())
				_, err = os.Stat(filepath.Join(dir, "running"))
				is.True(os.IsNotExist(err))
			}
		})
	}
}

// endsBefore makes generation n, which an equal call may join and which ends so long before a moment.
func (w worker) endsBefore(n int, before time.Duration) {
	w.t.Helper()
	r := newRecord(n)
	r.JoinKey = [32]byte{1}
	r, err := w.CreateCharged(w.t.Context(), r, time.Minute)
	w.is.NoErr(err)
	i := stored(r, pixels(n))
	w.is.NoErr(w.PutImage(w.t.Context(), r.ImageKey(i), bytes.NewReader(pixels(n))))
	_, err = w.FinishSettled(w.t.Context(), r.Fence(), imagegen.OutcomeChange{Images: []imagegen.StoredImage{i},
		At: epoch.Add(time.Hour - before)})
	w.is.NoErr(err)
}
