package ledger

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// record puts an entry at the end of the journal and applies it.
func (b Books) record(e entry) (entry, error) {
	h := readHead(b.tx)
	e.Seq, e.Time = h.seq+1, b.now
	for i := range e.lots {
		e.lots[i].number(e.Seq, uint64(i))
	}
	if e.User != "" {
		e.Balance = readAccount(b.tx, e.User).Available + e.Credits
	}
	encoded := e.encode()
	e.hash = chained(h.hash, encoded)
	b.tx.Put(journal, kv.Key(e.Seq), append(encoded, e.hash[:]...))
	return e, apply(b.tx, e)
}

// apply makes the state that an entry leads to. It reads nothing but the entry and the state, so
// that a replay does the same.
func apply(tx kv.Tx, e entry) error {
	head{e.Seq, e.hash, e.Time}.write(tx)
	if e.Ref != "" {
		tx.Put(refs, kv.Key(e.Ref), kv.Key(e.Seq))
	}
	if e.User != "" {
		tx.Put(history, kv.Key(string(e.User), e.Seq), only)
		a := readAccount(tx, e.User)
		a.post(e)
		a.write(tx, e.User)
	}
	for _, l := range e.lines {
		before, err := getLot(tx, l.lot)
		if err != nil {
			return err
		}
		putLot(tx, before, before.plus(l.moves(e.Kind)))
	}
	for _, l := range e.lots {
		putLot(tx, lot{}, l)
	}
	applyCharge(tx, e)
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

func applyCharge(tx kv.Tx, e entry) {
	switch e.Kind {
	case imagegen.EntryCharge:
		chargeRow{User: e.User, Credits: -e.Credits, lines: e.lines}.write(tx, e.Charge)
	case imagegen.EntrySettle:
		chargeRow{User: e.User, Credits: e.Credits + e.Used, Settled: true, Used: e.Used}.write(tx, e.Charge)
	}
}
