package ledger

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Lots implements imagegen.Bookkeeper.
func (l *Ledger) Lots(ctx context.Context, u imagegen.UserID) (lots []imagegen.Lot, err error) {
	var found []lot
	err = l.view(ctx, func(b Books) error {
		found = nil
		add := func(l lot) bool {
			if l.Remaining > 0 || l.Held > 0 {
				found = append(found, l)
			}
			return true
		}
		if err := eachLot(b.tx, live, u, add); err != nil {
			return err
		}
		return eachLot(b.tx, spent, u, add)
	})
	slices.SortFunc(found, func(a, b lot) int { return bytes.Compare(a.key(), b.key()) })
	for _, l := range found {
		lots = append(lots, l.Lot)
	}
	return lots, err
}

// History implements imagegen.Bookkeeper.
func (l *Ledger) History(ctx context.Context, u imagegen.UserID, before uint64, limit int) (entries []imagegen.Entry, err error) {
	prefix := userKey(u)
	from := kv.Key(string(u), ^uint64(0))
	if before > 0 {
		from = kv.Key(string(u), before)
	}
	err = l.view(ctx, func(b Books) (err error) {
		entries = nil
		b.tx.Descend(history, from, func(key, _ []byte) bool {
			if len(entries) >= limit || !bytes.HasPrefix(key, prefix) {
				return false
			}
			e, bad := readEntry(b.tx, binary.BigEndian.Uint64(key[len(prefix):]))
			if bad != nil {
				err = bad
				return false
			}
			entries = append(entries, e.Entry)
			return true
		})
		return err
	})
	return entries, err
}

// ChargeOf tells what became of a charge, for an audit of what was charged for.
func ChargeOf(tx kv.Tx, id imagegen.ChargeID) (c imagegen.Charge, settled bool, used imagegen.Credits, known bool) {
	row, known, err := readCharge(tx, id)
	if err != nil {
		return c, false, 0, false
	}
	return imagegen.Charge{ID: id, User: row.User, Credits: row.Credits}, row.Settled, row.Used, known
}
