package ledger

import (
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

const hour = time.Hour

// record puts an entry at the end of the journal and applies it.
func (b Books) record(e entry) (entry, error) {
	h := readHead(b.tx)
	e.Seq, e.Time = h.seq+1, b.now
	for i := range e.lots {
		e.lots[i].seq, e.lots[i].place = e.Seq, uint64(i)
		e.lots[i].ID = lotID(e.Seq, uint64(i))
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
		applyAccount(tx, e)
	}
	for _, l := range e.lines {
		if err := applyLine(tx, e.Kind, l); err != nil {
			return err
		}
	}
	for _, l := range e.lots {
		putLot(tx, lot{}, l)
	}
	return applyCharge(tx, e)
}

func applyAccount(tx kv.Tx, e entry) {
	a := readAccount(tx, e.User)
	a.Available += e.Credits
	switch e.Kind {
	case imagegen.EntryGrant:
		a.Granted += e.Credits
	case imagegen.EntryCharge:
		a.Held -= e.Credits
	case imagegen.EntrySettle:
		a.Held -= e.Credits + e.Used
		a.Spent += e.Used
	case imagegen.EntryExpire:
		a.Expired -= e.Credits
	case imagegen.EntryRevoke:
		a.Revoked -= e.Credits
	}
	a.write(tx, e.User)
}

func applyLine(tx kv.Tx, kind imagegen.EntryKind, l line) error {
	before, err := getLot(tx, l.lot)
	if err != nil {
		return err
	}
	after := before
	switch kind {
	case imagegen.EntryCharge:
		after.Remaining, after.Held = after.Remaining-l.took, after.Held+l.took
	case imagegen.EntryExpire:
		after.Remaining, after.Expired = after.Remaining-l.took, after.Expired+l.took
	case imagegen.EntryRevoke:
		after.Remaining, after.Revoked = after.Remaining-l.took, after.Revoked+l.took
	case imagegen.EntrySettle:
		after.Held -= l.took
		after.Remaining += l.back
		after.Moved += l.moved
		after.Spent += l.took - l.back - l.moved
	default:
		return fmt.Errorf("ledger: entry of kind %q changes a lot", kind)
	}
	putLot(tx, before, after)
	return nil
}

func applyCharge(tx kv.Tx, e entry) error {
	switch e.Kind {
	case imagegen.EntryCharge:
		chargeRow{User: e.User, Credits: -e.Credits, lines: e.lines}.write(tx, e.Charge)
	case imagegen.EntrySettle:
		chargeRow{User: e.User, Credits: e.Credits + e.Used, Settled: true, Used: e.Used}.write(tx, e.Charge)
	}
	return nil
}
