package ledger

import (
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// post records an entry, after it has written off what has expired: so what an entry takes or returns is never
// mixed with what was lost before.
func (a *openAccount) post(e Entry) (Entry, error) {
	if err := a.expire(); err != nil {
		return e, err
	}
	return a.record(e)
}

// record puts an entry at the end of the account's journal, and writes the rows that follow from it. An
// imagegen.Violation: the entry would break an invariant; nothing of it is written, but earlier entries of
// the same transaction may have been, so the transaction has to be rolled back.
func (a *openAccount) record(e Entry) (Entry, error) {
	mark := a.tx.Clock()
	e = a.chain(e, mark.Epoch)
	if err := e.checkPostings(); err != nil {
		return e, err
	}
	c, err := apply(a, e)
	if err == nil {
		err = c.book(a.tx)
	}
	if err != nil {
		return e, err
	}
	a.tx.Write(c)
	a.Account, a.seen = c.To, nil
	a.wrote(mark, e)
	if a.noted != nil {
		a.noted(a.tx, a.at, c)
	}
	return e, nil
}

// chain completes an entry with its place at the end of the account's journal: number, time, epoch, the balance
// afterwards, the numbers of new lots. Then it encodes the entry and hashes it together with the one before.
func (a *openAccount) chain(e Entry, epoch uint64) Entry {
	if e.Kind == entryClock { // the correction is the first entry of the new epoch
		epoch++
	}
	e.User, e.Seq, e.Epoch, e.Balance = a.User, a.Seq+1, epoch, a.Available+e.Credits
	e.Time = a.dated(a.at.Wall, epoch).Truncate(time.Microsecond) // what every storage keeps
	for i := range e.Lots {
		e.Lots[i].Number = a.Lots + uint64(i) + 1
		e.Lots[i].Expires = e.Lots[i].Expires.Truncate(time.Microsecond)
	}
	e = e.Encode()
	e.Hash = kv.Chained(a.Hash, e.Encoded)
	return e
}

// apply returns what an entry does to its account, its lots and its charge. It reads nothing but the account and its
// lots, neither a clock nor other users' rows, so that a replay gives the same. It writes nothing. An
// imagegen.Violation: the rows would break an invariant.
func apply(a *openAccount, e Entry) (*Change, error) {
	c := &Change{Lots: make([]LotChange, 0, len(e.Postings)+len(e.Lots)), Entry: e, From: a.Account, To: a.Account}
	if err := c.account(); err != nil {
		return c, err
	}
	for _, p := range e.Postings {
		l, known := a.lot(p.Lot)
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
		if err := l.To.checkSum(); err != nil {
			return c, err
		}
	}
	c.To.Next = c.next(a)
	c.Charge = e.Leads()
	return c, nil
}

// account makes the account that the entry leads to, except the number of lots and what expires first. It refuses an
// entry whose epoch or time falls, or whose balance is not that of the account.
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
	if err := a.checkSums(); err != nil {
		return err
	}
	if a.Available != e.Balance {
		return broken("balance", e.subject(), "by the entries so far there are %d; it says %d", a.Available, e.Balance)
	}
	return nil
}

// next is what expires first once the lots are changed. Mostly it follows from the account and the changed lots; only
// if all of what expired first is gone are other lots read.
func (c *Change) next(a *openAccount) imagegen.Expiration {
	next := c.From.Next
	for _, l := range c.Lots {
		if !l.To.Expires.IsZero() && l.To.Expires.Equal(next.At) {
			next.Credits += l.To.Remaining - l.From.Remaining
		} else {
			next = soonest(next, l.To)
		}
	}
	if next.Credits == 0 && !next.At.IsZero() { // all of it is gone
		return c.nextAnew(a)
	}
	return next
}

// nextAnew finds what expires first among all lots. For lots that the change touches it
// uses their new state, and for the others what the store has.
func (c *Change) nextAnew(a *openAccount) (next imagegen.Expiration) {
	for _, l := range c.Lots {
		next = soonest(next, l.To)
	}
	for l := range a.expiring() {
		if !next.At.IsZero() && next.At.Before(l.Expires) {
			break
		}
		if !slices.ContainsFunc(c.Lots, func(c LotChange) bool { return c.To.Number == l.Number }) {
			next = soonest(next, l)
		}
	}
	return next
}

// Leads returns the charge as the entry leaves it; nil if the entry is about no charge. A charge's entry leaves it
// open, and a settlement closes it for good.
func (e Entry) Leads() *Charge {
	switch e.Kind {
	case imagegen.EntryCharge:
		return &Charge{Place: e.place(), Credits: -e.Credits, Postings: e.Postings}
	case imagegen.EntrySettle:
		return &Charge{Place: e.place(), Credits: e.Credits + e.Used, Settled: true, Used: e.Used}
	}
	return nil
}
