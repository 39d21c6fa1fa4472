package model_test

import (
	"errors"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen/engine"
)

// turnOutsideLedger has the outside ledger refuse for good to settle, or settle again.
func (w *service) turnOutsideLedger(*rapid.T) { w.outsideLedger.turn() }

// resolve has an operator end a dispute: it succeeds when the ledger settles again, and changes nothing
// before.
func (w *service) resolve(t *rapid.T) {
	disputed := slices.DeleteFunc(slices.Clone(w.orders), func(o *order) bool { return !o.disputed })
	if len(disputed) == 0 || !w.up {
		t.SkipNow()
	}
	o := pick(t, "disputed", disputed...)
	refund := pick(t, "refund", false, true)
	_, err := w.process.Resolve(w.Context(), o.id, engine.Resolution{Refund: refund})
	if w.outsideLedger.refuses() {
		if !errors.Is(err, errLedgerClosed) {
			w.Fatalf("%#v: resolved with the ledger closed: %v", o, err)
		}
		w.met.Add("not-resolved", 1)
		return
	}
	if err != nil {
		w.Fatalf("%#v: not resolved: %v", o, err)
	}
	o.disputed, o.refunded = false, refund
	w.books.look(time.Now())
	w.settleBooks(o)
	w.met.Add("resolved", 1)
}

func (w *service) settleBooks(o *order) {
	w.Helper()
	if err := w.books.settle(o.charge().ID, o.used()); err != nil {
		w.Fatalf("%s: %v", o.request.Prompt, err)
	}
}
