package ledger

import (
	"iter"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// post records an entry, behind what the account's lots have lost by this time.
func (a *openAccount) post(e Entry) (Entry, error) {
	if err := a.expire(); err != nil {
		return e, err
	}
	return a.record(e)
}

// record puts an entry at the end of the account's journal, and what follows from it. An
// imagegen.Violation: it would break an invariant, and the transaction has to be rolled back.
func (a *openAccount) record(e Entry) (Entry, error) {
	mark := a.tx.Clock()
	e = a.chain(e, mark.Epoch)
	if err := e.check(); err != nil {
		return e, err
	}
	c, err := apply(a, a.Account, e)
	if err == nil {
		err = c.book(a.tx)
	}
	if err != nil {
		return e, err
	}
	a.tx.Write(c)
	a.Account, a.seen = c.To, nil
	a.wrote(mark, e)
	return e, nil
}

// chain gives an entry its place at the end of the account's journal.
func (a *openAccount) chain(e Entry, epoch uint64) Entry {
	if e.Kind == entryClock {
		epoch++
	}
	e.User, e.Seq, e.Time, e.Epoch, e.Balance = a.User, a.Seq+1, a.dated(a.at.Wall, epoch), epoch, a.Available+e.Credits
	for i := range e.Lots {
		e.Lots[i].Number = a.Lots + uint64(i) + 1
	}
	e.Encoded = kv.Encode(&e, entryForm)
	e.Hash = kv.Chained(a.Hash, e.Encoded)
	return e
}

// lots are an account's, as an entry's effect depends on them.
type lots interface {
	lot(number uint64) (l Lot, known bool)
	expiring() iter.Seq[Lot]
}

// apply returns what an entry does to its account, and to the lots and the charge of that. It reads
// nothing else, so that a replay does the same. An imagegen.Violation: the rows would break an
// invariant.
func apply(of lots, a Account, e Entry) (*Change, error) {
	c := &Change{Lots: make([]LotChange, 0, len(e.Postings)+len(e.Lots)), Entry: e, From: a, To: a}
	if err := c.account(); err != nil {
		return c, err
	}
	for _, p := range e.Postings {
		l, known := of.lot(p.Lot)
		if !known {
			return c, broken("lot", e.subject(), "it is about lot %d, which is not there", p.Lot)
		}
		c.Lots = append(c.Lots, LotChange{l, l.plus(p.moves(e.Kind))})
	}
	for _, l := range e.Lots {
		if c.To.Lots++; l.Number != c.To.Lots {
			return c, broken("lot", e.subject(), "it makes lot %d, and the next is %d", l.Number, c.To.Lots)
		}
		c.Lots = append(c.Lots, LotChange{To: e.makes(l)})
	}
	for _, l := range c.Lots {
		if err := l.To.check(); err != nil {
			return c, err
		}
	}
	c.To.Next = c.next(of)
	c.Charge = e.Leads()
	return c, nil
}

// account makes the account that the entry leads to, but for its lots.
func (c *Change) account() error {
	e, a := c.Entry, &c.To
	switch {
	case e.Epoch < a.Epoch, e.Kind == entryClock && e.Epoch == a.Epoch:
		return broken("journal epoch", e.subject(), "it is of epoch %d, and an earlier one is of %d", e.Epoch, a.Epoch)
	case !a.dated(e.Time, e.Epoch).Equal(e.Time):
		return broken("journal time", e.subject(), "it is of %s, and an earlier one is later", e.Time)
	}
	a.User, a.Seq, a.Hash, a.Time, a.Epoch = e.User, e.Seq, e.Hash, e.Time, e.Epoch
	a.post(e)
	if err := a.check(); err != nil {
		return err
	}
	if a.Available != e.Balance {
		return broken("balance", e.subject(), "by the entries so far there are %d; it says %d", a.Available, e.Balance)
	}
	return nil
}

// next is what expires first once the lots are changed.
func (c *Change) next(of lots) imagegen.Expiration {
	next := c.From.Next
	for _, l := range c.Lots {
		if !l.To.Expires.IsZero() && l.To.Expires.Equal(next.At) {
			next.Credits += l.To.Remaining - l.From.Remaining
		} else {
			next = soonest(next, l.To)
		}
	}
	if next.Credits == 0 && !next.At.IsZero() { // all of it is gone
		return c.nextAnew(of)
	}
	return next
}

// nextAnew finds what expires first among all lots, when a change has touched the lot
// that did.
func (c *Change) nextAnew(of lots) (next imagegen.Expiration) {
	for _, l := range c.Lots {
		next = soonest(next, l.To)
	}
	for l := range of.expiring() {
		if !next.At.IsZero() && next.At.Before(l.Expires) {
			break
		}
		if !slices.ContainsFunc(c.Lots, func(c LotChange) bool { return c.To.Number == l.Number }) {
			next = soonest(next, l)
		}
	}
	return next
}

// Leads returns the charge that the entry leads to, as it stands as long as no other entry is about it; nil if
// it is not about one.
func (e Entry) Leads() *Charge {
	switch e.Kind {
	case imagegen.EntryCharge:
		return &Charge{Place: e.place(), Credits: -e.Credits, Postings: e.Postings}
	case imagegen.EntrySettle:
		return &Charge{Place: e.place(), Credits: e.Credits + e.Used, Settled: true, Used: e.Used}
	}
	return nil
}
