package ledger

import (
	"bytes"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// chargeRow is a charge as it is stored, for ever: it tells a repetition from a conflict.
type chargeRow struct {
	User    imagegen.UserID // empty: settled before it was ever charged
	Credits imagegen.Credits
	Settled bool
	Used    imagegen.Credits
	lines   []line // what an open charge holds, in the order in which it burnt
}

func chargeKey(id imagegen.ChargeID) []byte { return kv.Key(string(id)) }

func chargeID(key []byte) imagegen.ChargeID {
	return imagegen.ChargeID(bytes.TrimSuffix(key, []byte{0}))
}

func readCharge(tx kv.Tx, id imagegen.ChargeID) (c chargeRow, known bool, err error) {
	b := tx.Get(charges, chargeKey(id))
	if b == nil {
		return c, false, nil
	}
	c, err = decodeCharge(b)
	return c, true, err
}

func decodeCharge(b []byte) (c chargeRow, err error) {
	r := kv.NewReader(b)
	c.User, c.Credits, c.Settled, c.Used = imagegen.UserID(r.String()), imagegen.Credits(r.Int()), r.Bool(), imagegen.Credits(r.Int())
	for range r.Count() {
		c.lines = append(c.lines, line{lot: r.Bytes(), took: imagegen.Credits(r.Int())})
	}
	if err := r.Err(); err != nil {
		return c, fmt.Errorf("ledger: a charge cannot be read: %w", err)
	}
	return c, nil
}

func (c chargeRow) write(tx kv.Tx, id imagegen.ChargeID) {
	w := make(kv.Writer, 0, 96)
	w.String(string(c.User))
	w.Int(int64(c.Credits))
	w.Bool(c.Settled)
	w.Int(int64(c.Used))
	w.Uint(uint64(len(c.lines)))
	for _, l := range c.lines {
		w.Bytes(l.lot)
		w.Int(int64(l.took))
	}
	tx.Put(charges, chargeKey(id), w)
}

// check holds what a charge holds and used against what it took.
func (c chargeRow) check(id imagegen.ChargeID) error {
	var held, open imagegen.Credits
	for _, l := range c.lines {
		held += l.took
	}
	if !c.Settled {
		open = c.Credits
	}
	if held != open || c.Used < 0 || c.Used > c.Credits {
		return broken("charge sum", id, "%d charged, %d used, %d held, settled: %t", c.Credits, c.Used, held, c.Settled)
	}
	return nil
}

// CheckCharge holds a record against its charge, see [imagegen.Record.CheckCharge]. known is false
// if there is none.
func CheckCharge(tx kv.Tx, r imagegen.Record) (known bool, err error) {
	c, known, err := readCharge(tx, r.Charge().ID)
	if err != nil || !known {
		return known, err
	}
	return true, r.CheckCharge(imagegen.Charge{ID: r.Charge().ID, User: c.User, Credits: c.Credits}, c.Settled, c.Used)
}

// Unreturned calls f for each charge that is open or has used credits, until f returns false: what
// was charged for has to be there. One that cannot be read is passed over; Check reports it.
func Unreturned(tx kv.Tx, f func(imagegen.ChargeID) bool) {
	tx.Ascend(charges, nil, func(key, value []byte) bool {
		c, err := decodeCharge(value)
		if err != nil || c.Settled && c.Used == 0 {
			return true
		}
		return f(chargeID(key))
	})
}
