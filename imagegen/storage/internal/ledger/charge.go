package ledger

import (
	"cmp"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
)

// Charge is imagegen.Ledger's Charge within a transaction. A refusal comes before any write.
func (b Books) Charge(c imagegen.Charge) error {
	if err := cmp.Or(checkCharge(c.ID), c.User.Check(), checkAmount(c.Credits)); err != nil {
		return err
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
	lines, err := b.burn(c.User, c.Credits)
	if err != nil {
		return err
	}
	_, err = b.enter(entry{Entry: imagegen.Entry{Kind: imagegen.EntryCharge, User: c.User, Charge: c.ID, Credits: -c.Credits}, lines: lines})
	return err
}

// burn finds the lots that credits come from, in the order in which they burn.
// ErrInsufficientCredits: the user cannot spend so many.
func (b Books) burn(u imagegen.UserID, credits imagegen.Credits) (lines []line, err error) {
	if b.Balance(u).Credits < credits {
		return nil, imagegen.ErrInsufficientCredits
	}
	missing := credits
	err = eachLot(b.tx, live, u, func(l lot) bool {
		if !l.lapsed(b.now) {
			took := min(missing, l.Remaining)
			lines = append(lines, line{lot: l.key(), took: took})
			missing -= took
		}
		return missing > 0
	})
	if err == nil && missing > 0 {
		err = fmt.Errorf("ledger: the lots of user %q hold %d credits less than its account; run an audit", u, missing)
	}
	return lines, err
}

// Settle is imagegen.Ledger's Settle within a transaction. A refusal comes before any write.
func (b Books) Settle(id imagegen.ChargeID, used imagegen.Credits) error {
	if err := checkCharge(id); err != nil {
		return err
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
	e := entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, User: c.User, Charge: id, Credits: c.Credits - used, Used: used}}
	if e.lines, e.lots, err = b.giveBack(c, used); err != nil {
		return err
	}
	_, err = b.enter(e)
	return err
}

// giveBack divides what a charge holds: the first of it is spent, the rest goes back to where it
// came from, in the reverse of the order in which it burnt; where the lot has lapsed, to a refund lot,
// unless that would have lapsed as well.
func (b Books) giveBack(c chargeRow, used imagegen.Credits) (lines []line, refunds []lot, err error) {
	for _, held := range c.lines {
		l, err := getLot(b.tx, held.lot)
		if err != nil {
			return nil, nil, err
		}
		gone := min(used, held.took)
		used -= gone
		rest := held.took - gone
		settled := line{lot: held.lot, took: held.took, back: rest}
		if until := l.refundExpires(); rest > 0 && l.lapsed(b.now) && b.now.Before(until) {
			settled.back, settled.moved = 0, rest
			refunds = append(refunds, lot{refund: true, Lot: imagegen.Lot{User: c.User, Granted: rest, Remaining: rest, Promo: l.Promo,
				Priority: l.Priority, Expires: until}})
		}
		lines = append(lines, settled)
	}
	return lines, refunds, nil
}
