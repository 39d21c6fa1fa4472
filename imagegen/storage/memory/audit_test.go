package memory_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

const user = imagegen.UserID("alice")

const imageBytes = "bytes of an image"

// published returns a DB in which n generations have succeeded with an image each, and the images' keys.
func published(t *testing.T, n int) (db *memory.DB, keys []imagegen.ImageKey) {
	t.Helper()
	is := is.New(t)
	db = memory.New(nil)
	_, err := db.Grant(t.Context(), imagegen.Grant{User: user, Credits: 1000})
	is.NoErr(err)
	for i := range n {
		r := imagegen.Record{
			Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", i)), User: user, N: 1,
				Price: 1, CreatedAt: time.Now()},
			Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1},
		}
		r, err := db.CreateCharged(t.Context(), r, time.Minute)
		is.NoErr(err)
		image := imagegen.StoredImage{ID: imagegen.ImageID(fmt.Sprintf("image_%026d%026d", i, 0)), Attempt: 1,
			MediaType: "image/png", Width: 1, Height: 1, Size: int64(len(imageBytes)),
			SHA256: sha256.Sum256([]byte(imageBytes)), CreatedAt: time.Now()}
		keys = append(keys, r.ImageKey(image))
		is.NoErr(db.PutImage(t.Context(), keys[i], strings.NewReader(imageBytes)))
		_, err = db.FinishSettled(t.Context(), r.Fence(), imagegen.OutcomeChange{Images: []imagegen.StoredImage{image},
			At: time.Now()})
		is.NoErr(err)
	}
	return db, keys
}

func TestAuditCounts(t *testing.T) {
	is := is.New(t)
	db, _ := published(t, 3)
	r, err := db.Audit(t.Context())
	is.NoErr(err)
	is.True(r.Clean())
	is.Equal(cmp.Diff(imagegen.AuditReport{Entries: 7, Accounts: 1, Lots: 1, Charges: 3, Generations: 3, Images: 3,
		TrailRows: 1}, r, cmpopts.EquateEmpty()), "")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = db.Audit(ended)
	is.True(errors.Is(err, context.Canceled))
}

func TestAuditFindsImages(t *testing.T) {
	for name, other := range map[string]string{"another length": "bytes",
		"another content": strings.ToUpper(imageBytes), "none": ""} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			db, keys := published(t, 2)
			is.NoErr(db.RemoveImages(t.Context(), keys[1].Generation, 1))
			if other != "" {
				is.NoErr(db.PutImage(t.Context(), keys[1], strings.NewReader(other)))
			}
			r, err := db.Audit(t.Context())
			is.NoErr(err)
			is.Equal(len(r.Violations), 1)
			is.Equal(r.Violations[0].Rule, "image bytes")
			is.Equal(r.Violations[0].Subject, string(keys[1].Image))
		})
	}
}

func TestAuditListsTheFirst(t *testing.T) {
	is := is.New(t)
	db, keys := published(t, imagegen.MaxViolations+5)
	for _, k := range keys {
		is.NoErr(db.RemoveImages(t.Context(), k.Generation, k.Attempt))
	}
	r, err := db.Audit(t.Context())
	is.NoErr(err)
	is.Equal(len(r.Violations), imagegen.MaxViolations)
	is.Equal(r.More, 5)
}
