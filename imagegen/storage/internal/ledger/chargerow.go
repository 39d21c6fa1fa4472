package ledger

import (
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

// ChargeOf tells what became of a charge, for an audit of what was charged for. One that was
// settled before it was ever made has no user.
func ChargeOf(tx kv.Tx, id imagegen.ChargeID) (c imagegen.Charge, settled bool, used imagegen.Credits, known bool) {
	row, known, err := readCharge(tx, id)
	if err != nil { // Check reports it
		return c, false, 0, false
	}
	return imagegen.Charge{ID: id, User: row.User, Credits: row.Credits}, row.Settled, row.Used, known
}
