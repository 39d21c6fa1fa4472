package storage_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// spoil alters the value of a generation, without regard to its checksum.
func spoil(b kv.Bucket, id imagegen.GenerationID) func(tx *bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte(b))
		return bucket.Put([]byte(id), lastByte(slices.Clone(bucket.Get([]byte(id)))))
	}
}

// One generation that cannot be read stops neither the queue nor a start nor an audit: the others are
// worked on, and the audit and the log report it.
func TestADamagedGenerationStopsNobody(t *testing.T) {
	for name, spoilt := range map[string]func(w worker) imagegen.GenerationID{
		"due": func(w worker) imagegen.GenerationID { return w.wait(1, true).ID },
		"delayed": func(w worker) imagegen.GenerationID {
			w.wait(1, true)
			r := w.claim()[0]
			_, err := w.Update(w.t.Context(), r.Fence(), imagegen.ReleaseChange{Delay: time.Nanosecond})
			w.is.NoErr(err)
			return r.ID
		},
		"under way": func(w worker) imagegen.GenerationID {
			w.wait(1, true)
			return w.claim()[0].ID
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var log bytes.Buffer
			options := &storage.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}
			w := work(t, openDir(t, dir, options))
			w.fund(10)
			id := spoilt(w)
			others := []imagegen.GenerationID{w.wait(2, true).ID, w.wait(3, false).ID}
			w.is.NoErr(w.Bolt().Update(spoil("generations", id))) // while it is at work
			if name != "under way" {
				w.is.Equal(idsOf(w.claim()), others[:1])
				w.is.True(strings.Contains(log.String(), string(id)))
			}
			w.is.NoErr(w.Close())

			log.Reset()
			w = work(t, openDir(t, dir, options))
			w.is.Equal(strings.Count(log.String(), string(id)), 1)
			rs, err := w.Recover(t.Context(), 10, time.Minute)
			w.is.NoErr(err)
			w.is.True(slices.Contains(idsOf(rs), others[1]))
			w.is.True(!slices.Contains(idsOf(rs), id))
			w.is.Equal(len(filesUnder(t, dir+"/spool")), 3) // whose they are nobody can say
			report, err := w.Audit(t.Context())
			w.is.NoErr(err)
			w.is.Equal(len(report.Violations), 1)
			w.is.True(strings.Contains(report.Violations[0].Subject, string(id)))
			length, err := w.Queued(t.Context(), "")
			w.is.NoErr(err)
			w.is.True(length.All >= 0)
		})
	}
}

func (w worker) claim() []imagegen.Record {
	w.t.Helper()
	rs, _, err := w.Claim(w.t.Context(), imagegen.ClaimRequest{Most: 10, Lease: time.Minute})
	w.is.NoErr(err)
	return rs
}

func idsOf(rs []imagegen.Record) (ids []imagegen.GenerationID) {
	for _, r := range rs {
		ids = append(ids, r.ID)
	}
	return ids
}

// An attempt that cannot be read is abandoned by nobody in particular: the others are recovered.
func TestADamagedAttemptIsLetGo(t *testing.T) {
	bubble(t, t.TempDir(), func(t *testing.T, db *storage.DB) {
		is, w := is.New(t), work(t, db)
		w.fund(10)
		damaged, other := w.begin(1), w.begin(2)
		is.NoErr(w.Bolt().Update(spoil("generations", damaged.ID)))
		time.Sleep(time.Hour)
		rs, err := w.Recover(t.Context(), 10, time.Minute)
		is.NoErr(err)
		is.Equal(idsOf(rs), []imagegen.GenerationID{other.ID})
		time.Sleep(time.Hour)
		rs, err = w.Recover(t.Context(), 10, time.Minute)
		is.NoErr(err)
		is.Equal(idsOf(rs), []imagegen.GenerationID{other.ID})
	})
}

// Readiness warns of what was found damaged until an audit finds nothing.
func TestDamageIsWarnedOf(t *testing.T) {
	is, w := is.New(t), work(t, open(t, nil))
	w.fund(10)
	id := w.wait(1, true).ID
	is.Equal(len(w.Warnings(t.Context())), 0)
	spoilt := func() {
		is.NoErr(w.Bolt().Update(spoil("generations", id)))
		w.fund(1) // a commit that the storage knows of
	}
	spoilt()
	is.Equal(len(w.claim()), 0)
	warned := func() bool {
		warnings := w.Warnings(t.Context())
		return len(warnings) == 1 && warnings[0].Code == "damage" && strings.Contains(warnings[0].Detail, string(id))
	}
	is.True(warned())
	_, err := w.Audit(t.Context())
	is.NoErr(err)
	is.True(warned())
	spoilt() // the same byte: it is as it was
	w.clean()
	is.Equal(len(w.Warnings(t.Context())), 0)
}
