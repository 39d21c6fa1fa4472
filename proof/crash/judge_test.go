package crash_test

import (
	"context"
	"iter"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// service is what lies there when all is quiet.
func (w *world) service() witness.Service {
	return witness.Service{Store: w.db, Books: w.books, Images: w.db,
		Users: []imagegen.UserID{alice, bob, carol, dora.ID}, Joint: w.joins(), Settled: true}
}

// judge looks at what is left when all is quiet.
func (w *world) judge(crashed bool) {
	if w.expiring > 0 {
		w.grant() // which writes off what has expired
	}
	records := w.service().Compare(context.Background(), w.orders(), nil, w.fact)
	for _, r := range records {
		w.judgeRecord(r)
	}
	for _, t := range w.clientOrders {
		w.judgeLasting(t, records)
	}
	witness.Audit(context.Background(), w.fact, w.db, w.books)
	w.judgeKeys()
	w.judgeMembers()
	w.judgeFeed()
	w.judgeFiles(records, crashed)
}

// judgeFeed: the program has read each event once, and they tell what is there.
func (w *world) judgeFeed() {
	err := w.feed.Read(context.Background(), w.db)
	w.fact(err == nil, "the feed cannot be read: %v", err)
	fed := storagetest.Fed{Store: w.db, Users: w.service().Users, Fact: w.fact}
	if w.joins() {
		fed.Ledger = w.books
	}
	fed.Compare(context.Background(), w.feed.Events)
}

func (w *world) orders() iter.Seq[*witness.Order] {
	return func(yield func(*witness.Order) bool) {
		for _, t := range w.clientOrders {
			if !yield(&t.Order) {
				return
			}
		}
	}
}

func (w *world) judgeRecord(r imagegen.Record) {
	if w.retain > 0 && r.Terminal() && w.now().Sub(r.CompletedAt) > w.retain+10*time.Minute {
		w.Errorf("generation %s was to be erased", r.ID)
	}
	if w.forget > 0 && r.State == imagegen.StateFailed && r.Prompt != "" &&
		w.now().Sub(r.CompletedAt) > w.forget+10*time.Minute {
		w.Errorf("the prompt of %s was to be forgotten", r.ID)
	}
	if asked := len(r.References) > 0; r.State == imagegen.StateFailed && asked != w.references {
		w.Errorf("generation %s has references: %t", r.ID, asked)
	}
}

// judgeLasting: what was accepted comes whole, though processes die.
func (w *world) judgeLasting(t *clientOrder, records []imagegen.Record) {
	if t.outcome != witness.Accepted || !w.lasting || !w.spared() {
		return
	}
	for _, r := range records {
		w.fact(!t.Of(r) || r.Published == r.N, "%q was accepted, and a crash cost it %d of %d images", t.Prompt,
			r.N-r.Published, r.N)
	}
}

// spared reports whether nothing went wrong but that processes died: then nothing showed them, or the
// provider, that the work cannot be done.
func (w *world) spared() bool {
	for _, kind := range w.faults {
		if kind != dies && kind != diesLate {
			return false
		}
	}
	return true
}

// judgeFiles: the images that records name are there, and nothing else. What a dead process had in
// the spool, the next to open a directory removes.
func (w *world) judgeFiles(records []imagegen.Record, crashed bool) {
	doubtful := w.steps.name == "Remove" // what could not be removed stays until the next start as well
	for _, t := range w.clientOrders {
		doubtful = doubtful || t.Doubt
	}
	w.shelf.Compare(records,
		func(imagegen.ImageKey) bool { return false },
		func(imagegen.ReferenceID) bool { return w.reopens() || crashed || doubtful }, w.fact)
	if w.reopens() {
		left := w.leftovers()
		w.fact(len(left) == 0, "left in the directory: %v", left)
	}
}

// held is how much of an account open charges hold.
func (w *world) held(u imagegen.UserID) (sum imagegen.Credits) {
	lots, err := w.books.Lots(context.Background(), u)
	w.fact(err == nil, "lots of %s: %v", u, err)
	for _, l := range lots {
		sum += l.Held
	}
	return sum
}

// charged reports whether some charge is open: else no provider is to be called.
func (w *world) charged() bool { return w.held(alice)+w.held(bob) > 0 }
