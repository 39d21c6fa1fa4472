package storage_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// newRecord is alice's n-th generation, of one image for one credit.
func newRecord(n int) imagegen.Record {
	return imagegen.Record{
		Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", n)), User: "alice", Model: "fake-1",
			Prompt: "a fox in the snow", N: 1, Ratio: "1:1", Tier: imagegen.Tier1K, Price: 1, CreatedAt: epoch},
		Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1},
	}
}

// stored is an image with these bytes, as a record names it.
func stored(r imagegen.Record, b []byte) imagegen.StoredImage {
	id := "image_" + strings.TrimPrefix(string(r.ID), "gen_") + strings.Repeat("A", 26)
	return imagegen.StoredImage{ID: imagegen.ImageID(id), Attempt: r.Attempt, MediaType: "image/png", Width: 8,
		Height: 8, Size: int64(len(b)), SHA256: sha256.Sum256(b), CreatedAt: epoch}
}

// pixels are the bytes of the n-th image.
func pixels(n int) []byte { return bytes.Repeat([]byte(fmt.Sprintf("image %d. ", n)), 100) }

// worker does what the engine does for a generation, against a storage.
type worker struct {
	*storage.DB
	t  *testing.T
	is *is.I
}

func work(t *testing.T, db *storage.DB) worker { return worker{db, t, is.New(t)} }

func (w worker) fund(credits imagegen.Credits) {
	w.t.Helper()
	_, err := w.Grant(w.t.Context(), imagegen.Grant{User: "alice", Credits: credits})
	w.is.NoErr(err)
}

// begin charges generation n; it is then under way.
func (w worker) begin(n int) imagegen.Record {
	w.t.Helper()
	r, err := w.CreateCharged(w.t.Context(), newRecord(n), time.Minute)
	w.is.NoErr(err)
	return r
}

// finish stores the image of a generation that is under way, and publishes it.
func (w worker) finish(r imagegen.Record, b []byte) imagegen.Record {
	w.t.Helper()
	i := stored(r, b)
	w.is.NoErr(w.PutImage(w.t.Context(), r.ImageKey(i), bytes.NewReader(b)))
	r, err := w.FinishSettled(w.t.Context(), r.Fence(), imagegen.OutcomeChange{Images: []imagegen.StoredImage{i},
		At: epoch.Add(time.Minute)})
	w.is.NoErr(err)
	w.is.Equal(r.State, imagegen.StateSucceeded)
	return r
}

// erase does away with a generation that has ended.
func (w worker) erase(r imagegen.Record) {
	w.t.Helper()
	ctx := w.t.Context()
	r, err := w.Update(ctx, r.Fence(), imagegen.EraseChange{})
	w.is.NoErr(err)
	w.is.NoErr(w.RemoveImages(ctx, r.ID, r.Attempt))
	_, err = w.Update(ctx, r.Fence(), imagegen.PurgeChange{})
	w.is.NoErr(err)
}

// clean checks that an audit finds nothing, and returns what it went over.
func (w worker) clean() imagegen.AuditReport {
	w.t.Helper()
	report, err := w.Audit(w.t.Context())
	w.is.NoErr(err)
	for _, v := range report.Violations {
		w.t.Errorf("%s: %s: %s", v.Rule, v.Subject, v.Detail)
	}
	return report
}
