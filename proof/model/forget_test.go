package model_test

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// tidied is how long it takes at most until what has reached its age is seen to.
const tidied = time.Minute + time.Second

// remnant is what an order leaves for a time, to be forgotten then.
type remnant string

const (
	none       remnant = ""
	prompt     remnant = "prompt"        // of what failed
	hashOfAKey remnant = "hash-of-a-key" // of what was erased
)

func (o *order) leaves() remnant {
	switch {
	case o.forgotten:
	case o.phase == ended && len(o.pictures) == 0:
		return prompt
	case o.phase == erased && o.request.IdempotencyKey != "":
		return hashOfAKey
	}
	return none
}

func (r remnant) isIn(record imagegen.Record) bool {
	if r == prompt {
		return record.Prompt != ""
	}
	return record.IdempotencyKey != ""
}

// forget notices which remnants are gone: none that is too young, and none that is old enough is there for
// long while a process is. What is gone does not come back when the clock falls: a key that was free stays so.
func (w *service) forget() {
	w.Helper()
	now := time.Now()
	w.books.look(now)
	w.latest = later(w.latest, w.books.now)
	for id, o := range w.byID {
		left := o.leaves()
		if left == none {
			continue
		}
		due := o.completed.Add(kept)
		r, err := w.database.Generation(w.Context(), id)
		switch there := left.isIn(r); {
		case err != nil:
			w.Fatal(err)
		case !there && w.latest.Before(due):
			w.Fatalf("the %s of %s was forgotten at %v; it was to be kept until %v", left, id, w.latest, due)
		case !there:
			o.forgotten = true
			w.met.Add("forgotten-"+string(left), 1)
		case !w.up || w.books.now.Before(due):
			o.old = time.Time{}
		case o.old.IsZero():
			o.old = now
		case now.Sub(later(o.old, w.began)) > tidied:
			w.Fatalf("the %s of %s was to be forgotten at %v; it is %v", left, id, due, w.books.now)
		}
	}
}
