package model_test

import (
	"time"
)

// tidied is how long it takes at most until what has reached its age is seen to.
const tidied = time.Minute + time.Second

// forget notices which prompts of failed orders are gone: none that is too young, and none that is old
// enough is there for long while a process is.
func (w *service) forget() {
	w.Helper()
	now := time.Now()
	w.books.look(now)
	w.latest = later(w.latest, w.books.now)
	for id, o := range w.byID {
		if o.phase != ended || len(o.pictures) > 0 || o.forgotten {
			continue
		}
		due := o.completed.Add(keepFailed)
		r, err := w.database.Generation(w.Context(), id)
		switch {
		case err != nil:
			w.Fatal(err)
		case r.Prompt == "" && w.latest.Before(due):
			w.Fatalf("the prompt of %s was forgotten at %v; it was to be kept until %v", id, w.latest, due)
		case r.Prompt == "":
			o.forgotten = true
			w.met.Add("forgotten-prompts", 1)
		case !w.up || w.books.now.Before(due):
			o.old = time.Time{}
		case o.old.IsZero():
			o.old = now
		case now.Sub(later(o.old, w.began)) > tidied:
			w.Fatalf("the prompt of %s was to be forgotten at %v; it is %v", id, due, w.books.now)
		}
	}
}
