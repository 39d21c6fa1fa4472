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

// Charge is imagegen.Ledger's Charge within a transaction. A refusal comes before any write.
func (b Books) Charge(c imagegen.Charge) error {
	if !c.User.Valid() || !c.Credits.Valid() || !validID(string(c.ID)) {
		return imagegen.Invalid("no charge of %d credits can be made to user %q", c.Credits, c.User)
	}
	former, known, err := readCharge(b.tx, c.ID)
	switch {
	case err != nil:
		return err
	case known && former.Settled:
		return imagegen.ErrChargeClosed
	case known && (former.User != c.User || former.Credits != c.Credits):
		return imagegen.ErrChargeConflict
	case known:
		return nil
	}
	if b.spendable(c.User, readAccount(b.tx, c.User)) < c.Credits {
		return imagegen.ErrInsufficientCredits
	}
	if err := b.lapse(c.User); err != nil {
		return err
	}
	lines, err := b.burn(c.User, c.Credits, "")
	if err != nil {
		return err
	}
	_, err = b.record(entry{Entry: imagegen.Entry{Kind: imagegen.EntryCharge, User: c.User, Charge: c.ID, Credits: -c.Credits}, lines: lines})
	return err
}

// burn finds the lots that credits come from, in their order; only one lot, if it is named.
func (b Books) burn(u imagegen.UserID, credits imagegen.Credits, only string) (lines []line, err error) {
	prefix := userKey(u)
	b.tx.Ascend(live, prefix, func(key, value []byte) bool {
		if !bytes.HasPrefix(key, prefix) {
			return false
		}
		l, bad := decodeLot(value)
		if bad != nil {
			err = bad
			return false
		}
		if only == "" || l.ID == only {
			took := min(credits, l.Remaining)
			lines = append(lines, line{lot: bytes.Clone(key), took: took})
			credits -= took
		}
		return credits > 0
	})
	if err == nil && credits > 0 {
		err = fmt.Errorf("ledger: the lots of user %q hold %d credits less than its account; run an audit", u, credits)
	}
	return lines, err
}

// Settle is imagegen.Ledger's Settle within a transaction. A refusal comes before any write.
func (b Books) Settle(id imagegen.ChargeID, used imagegen.Credits) error {
	if !validID(string(id)) {
		return imagegen.Invalid("%q is no charge's identifier", id)
	}
	c, known, err := readCharge(b.tx, id)
	switch {
	case err != nil:
		return err
	case !known && used == 0:
		_, err := b.record(entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, Charge: id}})
		return err
	case !known:
		return imagegen.ErrNotFound
	case c.Settled && c.Used == used:
		return nil
	case c.Settled, used < 0, used > c.Credits:
		return imagegen.ErrChargeConflict
	}
	if err := b.lapse(c.User); err != nil {
		return err
	}
	e := entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, User: c.User, Charge: id, Credits: c.Credits - used, Used: used}}
	if e.lines, e.lots, err = b.giveBack(c, used); err != nil {
		return err
	}
	_, err = b.record(e)
	return err
}

// refundLife is how long credits live at least that come back after their lot lapsed.
const refundLife = 24 * hour

// giveBack divides what a charge holds: the first of it is spent, the rest goes back to where it
// came from, in the reverse of the order in which it burnt; where the lot has lapsed, to a refund lot.
func (b Books) giveBack(c chargeRow, used imagegen.Credits) (lines []line, refunds []lot, err error) {
	for _, held := range c.lines {
		l, err := getLot(b.tx, held.lot)
		if err != nil {
			return nil, nil, err
		}
		spent := min(used, held.took)
		used -= spent
		rest := held.took - spent
		settled := line{lot: held.lot, took: held.took, back: rest}
		if rest > 0 && l.lapsed(b.now) {
			settled.back, settled.moved = 0, rest
			refunds = append(refunds, lot{Lot: imagegen.Lot{User: c.User, Granted: rest, Remaining: rest, Promo: l.Promo,
				Priority: l.Priority, Effective: b.now, Expires: b.now.Add(refundLife)}})
		}
		lines = append(lines, settled)
	}
	return lines, refunds, nil
}
