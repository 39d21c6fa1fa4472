package crash_test

import (
	"context"
	"crypto/sha256"
	"io"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// judge looks at what is left when all is quiet.
func (w *world) judge(crashed bool) {
	records := w.records()
	for _, r := range records {
		w.judgeRecord(r)
	}
	for _, t := range w.told {
		w.judgeTold(t, records)
	}
	w.judgeBooks(records)
	w.judgeKeys()
	w.judgeFiles(records, crashed)
}

func (w *world) judgeRecord(r imagegen.Record) {
	if err := r.Check(); err != nil {
		w.Error(err)
	}
	if !r.Terminal() && r.State != imagegen.StateErased {
		w.Errorf("generation %s is still %s", r.ID, r.State)
	}
	if w.retain > 0 && r.Terminal() && w.now().Sub(r.CompletedAt) > w.retain+10*time.Minute {
		w.Errorf("generation %s was to be erased", r.ID)
	}
	if w.forget > 0 && r.State == imagegen.StateFailed && r.Prompt != "" && w.now().Sub(r.CompletedAt) > w.forget+10*time.Minute {
		w.Errorf("the prompt of %s was to be forgotten", r.ID)
	}
	if asked := len(r.References) > 0; r.State == imagegen.StateFailed && asked != w.references {
		w.Errorf("generation %s has references: %t", r.ID, asked)
	}
	for _, i := range r.Images {
		if sum, err := w.sumOf(r.ImageKey(i)); err != nil || sum != i.SHA256 {
			w.Errorf("image %s of %s: %v, or its bytes are others", i.ID, r.ID, err)
		}
	}
}

func (w *world) sumOf(k imagegen.ImageKey) (sum [32]byte, err error) {
	f, err := w.db.OpenImage(context.Background(), k)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, f)
	return [32]byte(hash.Sum(nil)), err
}

// judgeTold holds what a client was told against what is recorded.
func (w *world) judgeTold(t *told, records []imagegen.Record) {
	var recorded []imagegen.Record
	for _, r := range records {
		if r.User == t.user && (r.Prompt == t.request.Prompt || r.ID == t.result.ID || r.ID == t.failed) {
			recorded = append(recorded, r)
		}
	}
	if len(recorded) > 1 {
		w.Errorf("%q was made %d times", t.request.Prompt, len(recorded))
		return
	}
	if len(recorded) == 0 {
		if t.outcome != unheard && t.outcome != refused {
			w.Errorf("%q was told %s, and is not recorded", t.request.Prompt, t.outcome)
		}
		return
	}
	r := recorded[0]
	switch t.outcome {
	case refused:
		if !t.doubt {
			w.Errorf("%q was refused, and is recorded as %s", t.request.Prompt, r.State)
		}
	case accepted:
		if r.ID != t.result.ID {
			w.Errorf("%q was accepted as %s, and is recorded as %s", t.request.Prompt, t.result.ID, r.ID)
		}
		if diff := cmp.Diff(t.seen, r.Generation()); t.seen.ID != "" && diff != "" {
			w.Errorf("%q was seen otherwise than it is recorded (-seen +recorded):\n%s", t.request.Prompt, diff)
		}
		if w.lasting && w.spared() && r.Published < r.N {
			w.Errorf("%q was accepted, and a crash cost it %d of %d images", t.request.Prompt, r.N-r.Published, r.N)
		}
	case failed:
		if r.ID != t.failed || r.State != imagegen.StateFailed && !t.erased {
			w.Errorf("%q was told to have failed as %s, and %s is %s", t.request.Prompt, t.failed, r.ID, r.State)
		}
	case succeeded:
		if diff := cmp.Diff(t.result.Generation, r.Generation()); diff != "" && !t.erased {
			w.Errorf("%q was told otherwise than it is recorded (-told +recorded):\n%s", t.request.Prompt, diff)
		}
	}
}

// spared reports whether nothing went wrong but that processes died: then nothing told them, or the
// provider, that the work cannot be done.
func (w *world) spared() bool {
	for _, kind := range w.faults {
		if kind != dies && kind != diesLate {
			return false
		}
	}
	return true
}

// judgeBooks: each charge is closed, to what the images cost; nobody paid for anything else.
func (w *world) judgeBooks(records []imagegen.Record) {
	for _, db := range []database{w.db, w.books} {
		report, err := db.Audit(context.Background())
		if err != nil {
			w.Error(err)
		}
		for _, v := range report.Violations {
			w.Errorf("audit: %s: %s: %s", v.Rule, v.Subject, v.Detail)
		}
	}
	for _, u := range []imagegen.UserID{alice, bob} {
		w.judgeAccount(u, records)
	}
}

// judgeFiles: the images that records name are there, and nothing else. What a dead process had in
// the spool, the next to open a directory removes.
func (w *world) judgeFiles(records []imagegen.Record, crashed bool) {
	named := map[imagegen.ImageKey]bool{}
	for _, r := range records {
		for _, i := range r.Images {
			named[r.ImageKey(i)] = true
		}
	}
	if diff := cmp.Diff(named, w.shelf.images); diff != "" {
		w.Errorf("images (-named +there):\n%s", diff)
	}
	doubtful := w.steps.name == "Remove" // what could not be removed stays until the next start as well
	for _, t := range w.told {
		doubtful = doubtful || t.doubt
	}
	if w.reopens() {
		if left := w.leftovers(); len(left) > 0 {
			w.Errorf("left in the directory: %v", left)
		}
		return
	}
	if len(w.shelf.spooled) > 0 && !crashed && !doubtful {
		w.Errorf("left in the spool: %v", w.shelf.spooled)
	}
}
