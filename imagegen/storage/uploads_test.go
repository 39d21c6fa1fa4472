package storage_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// wait charges generation n, which has a reference image of its own.
func (w worker) wait(n int, async bool) imagegen.Record {
	w.t.Helper()
	r, b := newRecord(n), pixels(n)
	id := imagegen.ReferenceID(fmt.Sprintf("reference_%d", n))
	r.Async, r.References = async, []imagegen.ReferenceFile{{ID: id, MediaType: "image/png", Size: int64(len(b)),
		Width: 8, Height: 8, SHA256: sha256.Sum256(b)}}
	if async {
		r.Attempt = 0
	}
	w.is.NoErr(w.Stage(w.t.Context(), id, bytes.NewReader(b)))
	w.is.NoErr(w.Keep(w.t.Context(), id))
	r, err := w.CreateCharged(w.t.Context(), r, time.Minute)
	w.is.NoErr(err)
	return r
}

// waiting is a directory in which one asynchronous and one synchronous generation are under way.
func waiting(t *testing.T) (w worker, dir string) {
	t.Helper()
	dir = t.TempDir()
	w = work(t, openDir(t, dir, nil))
	w.fund(10)
	w.wait(1, true)
	w.wait(2, false)
	return w, dir
}

// namesIn lists what an archive holds.
func namesIn(t *testing.T, archive []byte) (names []string) {
	t.Helper()
	rewrite(t, archive, func(_ int, h *tar.Header, _ []byte) ([]byte, bool) {
		names = append(names, h.Name)
		return nil, false
	})
	return names
}

func TestBackupHoldsReferencesOfWaitingWork(t *testing.T) {
	w, dir := waiting(t)
	var b bytes.Buffer
	w.is.NoErr(w.Backup(t.Context(), &b))
	w.is.Equal(strings.Join(namesIn(t, b.Bytes()), " "), "imagegen.db spool/reference_1 manifest.json")
	left, err := os.ReadDir(filepath.Join(dir, "tmp"))
	w.is.NoErr(err)
	w.is.Equal(len(left), 0)

	to := t.TempDir()
	w.is.NoErr(storage.Restore(t.Context(), &b, to))
	f, err := openDir(t, to, nil).Open(t.Context(), "reference_1")
	w.is.NoErr(err)
	got, err := io.ReadAll(f)
	w.is.NoErr(errors.Join(err, f.Close()))
	w.is.True(bytes.Equal(got, pixels(1)))
}

// A reference image that is not there is missed here as well, and maybe kept elsewhere.
func TestBackupWithoutAReference(t *testing.T) {
	w, _ := waiting(t)
	w.is.NoErr(w.Remove(t.Context(), "reference_1"))
	var b bytes.Buffer
	w.is.NoErr(w.Backup(t.Context(), &b))
	w.is.NoErr(storage.Restore(t.Context(), &b, t.TempDir()))
}

func TestBackupNamesADamagedReference(t *testing.T) {
	w, dir := waiting(t)
	w.is.NoErr(os.Truncate(filepath.Join(dir, "spool", "reference_1"), 5))
	err := w.Backup(t.Context(), io.Discard)
	w.is.True(err != nil)
	w.is.True(strings.Contains(err.Error(), "reference image reference_1 of generation gen_"))
}

func TestAnAlteredReferenceIsRefused(t *testing.T) {
	w, _ := waiting(t)
	var b bytes.Buffer
	w.is.NoErr(w.Backup(t.Context(), &b))
	for name, edit := range map[string]func(h *tar.Header, body []byte) ([]byte, bool){
		"altered":   func(_ *tar.Header, body []byte) ([]byte, bool) { body[0] ^= 1; return body, true },
		"shortened": func(_ *tar.Header, body []byte) ([]byte, bool) { return body[:5], true },
		"missing":   func(*tar.Header, []byte) ([]byte, bool) { return nil, false },
		"nobody's": func(h *tar.Header, body []byte) ([]byte, bool) {
			h.Name = "spool/reference_7"
			return body, true
		},
		"of synchronous work": func(h *tar.Header, _ []byte) ([]byte, bool) {
			h.Name = "spool/reference_2"
			return pixels(2), true
		},
		"outside": func(h *tar.Header, body []byte) ([]byte, bool) { h.Name = "spool/../evil"; return body, true },
	} {
		t.Run(name, func(t *testing.T) {
			refusedArchive(t, rewrite(t, b.Bytes(), func(i int, h *tar.Header, body []byte) ([]byte, bool) {
				if i == 1 {
					return edit(h, body)
				}
				return body, true
			}))
		})
	}
}

// No reference image leaves the spool before a backup has linked all that it needs; after that, nobody waits for it.
func TestBackupHoldsTheSpoolUntilItsLinksAreMade(t *testing.T) {
	w, _ := waiting(t)
	w.wait(3, true)
	during, after, err := w.LinkForBackup(t.Context())
	w.is.NoErr(err)
	w.is.True(len(during) >= 2)
	for _, waited := range during {
		w.is.True(waited)
	}
	w.is.True(!after)
}

// A backup is taken while generations with reference images wait, come in, and are drawn before the
// backup has come to their references. Restored elsewhere, all of them are drawn from the same ones.
func TestWaitingWorkSurvivesABackup(t *testing.T) {
	is := is.New(t)
	db := openDir(t, t.TempDir(), nil)
	work(t, db).fund(1000)
	here := newStudio(t, db)
	for n := range 20 { // two are begun and held up, the others are in the queue
		here.ask(n)
	}
	more, enough := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(more)
		for n := 20; n < 80; n++ {
			select {
			case <-enough:
				return
			default:
				here.ask(n)
			}
		}
	}()
	var b bytes.Buffer
	drawn := false
	is.NoErr(db.Backup(t.Context(), writer(func(p []byte) (int, error) {
		if !drawn { // the database is on its way, the reference images are not
			drawn = true
			close(here.drawing)
			here.settled(20)
			close(enough)
			<-more
			here.stop() // waits until what was drawn is removed
		}
		return b.Write(p)
	})))

	to := t.TempDir()
	is.NoErr(storage.Restore(t.Context(), &b, to))
	restored := openDir(t, to, nil)
	n := len(all(t, restored))
	is.True(n >= 20)
	there := newStudio(t, restored)
	close(there.drawing)
	there.settled(n)
	there.stop()
	for _, r := range all(t, restored) {
		is.Equal(r.State, imagegen.StateSucceeded)
		seen, _ := there.seen.Load(r.Prompt)
		is.Equal(seen, r.References[0].SHA256)
	}
	is.Equal(work(t, restored).clean().Images, n)
	left, err := os.ReadDir(filepath.Join(to, "spool"))
	is.NoErr(err)
	is.Equal(len(left), 0)
}

// all are alice's generations.
func all(t *testing.T, db *storage.DB) []imagegen.Record {
	t.Helper()
	records, more, err := db.Generations(context.Background(), "alice", imagegen.Query{Limit: imagegen.MaxPageSize})
	if err != nil || more {
		t.Fatal(err, more)
	}
	return records
}
