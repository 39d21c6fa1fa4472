package ledger

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// record puts an entry at the end of the journal and applies it. An imagegen.Violation: it would
// break an invariant, and the transaction has to be rolled back.
func (b Books) record(e entry) (entry, error) {
	e, stored := b.chain(e)
	if err := e.check(); err != nil {
		return e, err
	}
	b.tx.Put(journal, kv.Key(e.Seq), stored)
	if err := b.wrote(e); err != nil {
		return e, err
	}
	return e, apply(b.tx, e)
}

// chain gives an entry its place at the end of the journal, and returns what is to be stored there.
func (b Books) chain(e entry) (chained entry, stored []byte) {
	h := readHead(b.tx)
	e.Seq, e.Time, e.epoch = h.seq+1, b.at.Wall, h.epoch
	if e.Kind == entryClock {
		e.epoch++
	}
	if e.User != "" {
		a := readAccount(b.tx, e.User)
		e.Balance = a.Available + e.Credits
		e.Time = a.dated(e)
	}
	for i := range e.lots {
		e.lots[i].number(e.Seq, uint64(i))
		e.lots[i].Effective = e.Time
	}
	encoded := e.encode()
	e.hash = kv.Chained(h.hash, encoded)
	return e, append(encoded, e.hash[:]...)
}

// apply makes the state that an entry leads to. It reads nothing but the entry and the state, so
// that a replay does the same. An imagegen.Violation: the state would break an invariant.
func apply(tx kv.Tx, e entry) error {
	h, err := readHead(tx).then(e)
	if err != nil {
		return err
	}
	h.write(tx)
	if e.Ref != "" {
		tx.Put(refs, kv.Key(e.Ref), kv.Key(e.Seq))
	}
	if e.User != "" {
		tx.Put(history, kv.Key(string(e.User), e.Seq), only)
		if err := applyAccount(tx, e); err != nil {
			return err
		}
	}
	for _, l := range e.lines {
		before, err := getLot(tx, l.lot)
		if err != nil {
			return err
		}
		if err := applyLot(tx, e, before, before.plus(l.moves(e.Kind))); err != nil {
			return err
		}
	}
	for _, l := range e.lots {
		if err := applyLot(tx, e, lot{}, l); err != nil {
			return err
		}
	}
	applyDay(tx, e)
	return applyCharge(tx, e)
}

func applyAccount(tx kv.Tx, e entry) error {
	a := readAccount(tx, e.User)
	if !a.dated(e).Equal(e.Time) {
		return broken("journal time", e.subject(), "it is of %s, and an earlier one of user %q is later", e.Time, e.User)
	}
	a.last, a.epoch = e.Time, e.epoch
	a.post(e)
	if err := a.check(e.User); err != nil {
		return err
	}
	if a.Available != e.Balance {
		return broken("balance", e.subject(), "by the entries so far user %q has %d; it says %d", e.User, a.Available, e.Balance)
	}
	a.write(tx, e.User)
	return nil
}

func applyLot(tx kv.Tx, e entry, before, after lot) error {
	if after.User != e.User {
		return broken("lot owner", after.ID, "%s of user %q changes it, and it is of user %q", e.subject(), e.User, after.User)
	}
	if err := after.check(); err != nil {
		return err
	}
	putLot(tx, before, after)
	return nil
}

// post adds what an entry does to the lots.
func (a *account) post(e entry) {
	for _, l := range e.lines {
		a.add(l.moves(e.Kind))
	}
	for _, l := range e.lots {
		a.add(l.Lot)
	}
}

// moves is what a line adds to its lot.
func (l line) moves(kind imagegen.EntryKind) (change imagegen.Lot) {
	switch kind {
	case imagegen.EntryCharge:
		change.Remaining, change.Held = -l.took, l.took
	case imagegen.EntryExpire:
		change.Remaining, change.Expired = -l.took, l.took
	case imagegen.EntryRevoke:
		change.Remaining, change.Revoked = -l.took, l.took
	case imagegen.EntrySettle:
		change.Held, change.Remaining, change.Moved = -l.took, l.back, l.moved
		change.Spent = l.took - l.back - l.moved
	}
	return change
}

func applyCharge(tx kv.Tx, e entry) error {
	var c chargeRow
	switch e.Kind {
	case imagegen.EntryCharge:
		c = chargeRow{User: e.User, Credits: -e.Credits, lines: e.lines}
	case imagegen.EntrySettle:
		c = chargeRow{User: e.User, Credits: e.Credits + e.Used, Settled: true, Used: e.Used}
	default:
		return nil
	}
	if err := c.check(e.Charge); err != nil {
		return err
	}
	c.write(tx, e.Charge)
	return nil
}
