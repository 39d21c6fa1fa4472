package simulation_test

import (
	"context"
	"errors"
	"iter"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// judge holds what is there in the end against the answers.
func (w *world) judge() {
	for _, u := range w.listener.users {
		w.grant(u, w.plan.rushes) // which writes off what has expired
	}
	witness.Audit(w.Context(), w.fact, w.db, w.books)
	left := witness.Service{Store: w.db, Books: w.books, Images: w.shelf, Users: w.listener.users, Joint: w.plan.joint,
		Settled: true}
	records := left.Compare(w.Context(), w.orders(), w.granted, w.fact)
	w.judgeKeys(records)
	w.judgeDisputes(records)
	w.judgeQueue()
	w.judgeFeed()
	more := w.shelf.Compare(records, w.excusesImage, w.excuse.forSpooled, w.fact)
	w.met.Add("left for the next start", more)
	w.count(records)
}

// excusesImage excuses a probe too: it belongs to no generation, and what a failed one leaves is
// removed at the next start.
func (w *world) excusesImage(k imagegen.ImageKey) bool {
	_, err := w.db.Generation(context.Background(), k.Generation)
	return errors.Is(err, imagegen.ErrNotFound) || w.excuse.forImage(k)
}

// fact is something that has to be so.
func (w *world) fact(ok bool, format string, args ...any) {
	if !ok {
		w.Errorf(format, args...)
	}
}

func (w *world) orders() iter.Seq[*witness.Order] {
	return func(yield func(*witness.Order) bool) {
		for _, o := range w.listener.all() {
			w.met.Add("orders", 1)
			if !yield(&o.Order) {
				return
			}
		}
	}
}

// count counts what became of the orders.
func (w *world) count(records []imagegen.Record) {
	for _, r := range records {
		if r.Payer != "" {
			w.met.Add("paid by a sponsor", 1)
		}
		switch {
		case r.Published == r.N:
			w.met.Add("succeeded", 1)
		case r.Published > 0:
			w.met.Add("partial", 1)
		default:
			w.met.Add("failed", 1)
		}
	}
}

// judgeKeys checks that no two generations have one idempotency key.
func (w *world) judgeKeys(records []imagegen.Record) {
	used := map[string]imagegen.GenerationID{}
	for _, r := range records {
		if key := r.IdempotencyKey; key != "" {
			w.fact(used[key] == "", "%s and %s have one key, %q", used[key], r.ID, key)
			used[key] = r.ID
		}
	}
}

// judgeDisputes checks that the ledger was never asked to close what it had refused, or never heard of: here nobody
// but the engine closes a charge.
func (w *world) judgeDisputes(records []imagegen.Record) {
	for _, r := range records {
		w.fact(r.Dispute == "", "the charge of %s is in dispute: %s", r.ID, r.Dispute)
	}
}

// judgeFeed checks that a reader has missed nothing, and that the feed tells of all generations and, where the ledger
// is part of the store, of all credits.
func (w *world) judgeFeed() {
	w.met.Add("events read meanwhile", len(w.feed.Events))
	w.is.NoErr(w.feed.Read(w.Context(), w.db))
	fed := storagetest.Fed{Store: w.db, Users: w.listener.users, Fact: w.fact}
	if w.plan.joint {
		fed.Ledger = w.books
	}
	whole, generations := fed.Compare(w.Context(), w.feed.Events)
	w.met.Add("events", len(whole))
	w.met.Add("generations in the feed", generations)
}

// judgeQueue checks that nothing is under way.
func (w *world) judgeQueue() {
	const all = 1 << 20
	queued, err := w.db.Queued(w.Context(), "")
	w.is.NoErr(err)
	running, err := w.db.Recover(w.Context(), all, 1)
	w.is.NoErr(err)
	w.fact(queued.All == 0 && len(running) == 0, "%d generations are queued, and %d are under way: %v", queued.All,
		len(running), running)
}
