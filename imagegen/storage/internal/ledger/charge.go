package ledger

import (
	"cmp"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Asker is who asks for a charge, with the limits that may refuse it, see [imagegen.Key.CheckLimits]: the API key, and
// the member for whom the account pays. What is zero has no limits.
type Asker struct {
	Key    imagegen.Key
	Member imagegen.User
}

// Charge is imagegen.Ledger's Charge within a transaction. A refusal comes before any write.
func (b Books) Charge(c imagegen.Charge, by Asker) error {
	if err := cmp.Or(checkCharge(c.ID), c.User.Check(), checkAmount(c.Credits), checkBill(c)); err != nil {
		return err
	}
	former, known := b.tx.Charge(c.ID)
	switch {
	case known && former.Settled:
		return imagegen.ErrChargeClosed
	case known && (former.User != c.User || former.Credits != c.Credits):
		return imagegen.ErrChargeConflict
	case known:
		return nil
	}
	a := b.accountOf(c.User)
	if err := a.allows(by, c.Credits); err != nil {
		return err
	}
	postings, err := a.consume(c.Credits)
	if err != nil {
		return err
	}
	_, err = a.post(Entry{Entry: imagegen.Entry{Kind: imagegen.EntryCharge, Charge: c.ID, Credits: -c.Credits,
		Model: c.Model, Key: c.Key, Member: c.Member, Images: c.N}, Postings: postings})
	return err
}

// consume finds the lots that credits come from, in the order in which they are consumed.
// ErrInsufficientCredits: the user cannot spend so many.
func (a *openAccount) consume(credits imagegen.Credits) (postings []Posting, err error) {
	if a.balance().Credits < credits {
		return nil, imagegen.ErrInsufficientCredits
	}
	missing := credits
	for l := range a.tx.Spendable(a.User) {
		if !l.expired(a.at.Now) {
			a.seen = append(a.seen, l)
			took := min(missing, l.Remaining)
			postings = append(postings, Posting{Lot: l.Number, Took: took})
			missing -= took
		}
		if missing == 0 {
			return postings, nil
		}
	}
	return nil, fmt.Errorf("ledger: the lots of user %q hold %d credits less than its account; run an audit", a.User,
		missing)
}

// Settle is imagegen.Ledger's Settle within a transaction. A refusal comes before any write.
func (b Books) Settle(id imagegen.ChargeID, used imagegen.Credits) error {
	return b.settle(id, used, false)
}

// Cancel is Settle to 0 for a generation that its owner has cancelled; usage counts it apart from failures.
func (b Books) Cancel(id imagegen.ChargeID) error { return b.settle(id, 0, true) }

// settle closes a charge. Settling an unknown charge to 0 leaves a tombstone, which
// refuses a Charge that comes later. Repeating a settlement with the same amount
// succeeds; with another amount it is an ErrChargeConflict.
func (b Books) settle(id imagegen.ChargeID, used imagegen.Credits, cancelled bool) error {
	if err := checkCharge(id); err != nil {
		return err
	}
	c, known := b.tx.Charge(id)
	switch {
	case !known && used == 0:
		_, err := b.accountOf("").record(Entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, Charge: id}})
		return err
	case !known:
		return imagegen.ErrNotFound
	case c.Settled && c.Used == used:
		return nil
	case c.Settled, used < 0, used > c.Credits:
		return imagegen.ErrChargeConflict
	}
	a := b.accountOf(c.User)
	origin, err := a.origin(c)
	if err != nil {
		return err
	}
	e := Entry{Entry: imagegen.Entry{Kind: imagegen.EntrySettle, Charge: id, Credits: c.Credits - used, Used: used,
		Model: origin.Model, Key: origin.Key, Member: origin.Member, Images: paidImages(origin, used),
		Cancelled: cancelled}, Charged: origin.Time}
	if err := a.refund(&e, c.Postings); err != nil {
		return err
	}
	_, err = a.post(e)
	return err
}

// refund divides what a charge holds. The credits that were consumed first are spent, and the rest goes back to
// the lots it came from: so what comes back is what was consumed last. Where the lot has expired, the credits
// go to a new refund lot. If that would have expired as well, they go back to the expired lot, and
// are written off there.
func (a *openAccount) refund(e *Entry, held []Posting) error {
	used := e.Used
	for _, h := range held {
		l, known := a.lot(h.Lot)
		if !known {
			return fmt.Errorf("ledger: lot %d of user %q is missing; run an audit", h.Lot, a.User)
		}
		spent := min(used, h.Took)
		used -= spent
		rest := h.Took - spent
		p := Posting{Lot: h.Lot, Took: h.Took, Back: rest}
		if until := l.refundExpires(); rest > 0 && l.expired(a.at.Now) && a.at.Now.Before(until) {
			p.Back, p.Moved = 0, rest
			e.Lots = append(e.Lots, NewLot{Credits: rest, Promo: l.Promo, Priority: l.Priority, Expires: until})
		}
		e.Postings = append(e.Postings, p)
	}
	return nil
}

// checkID returns an imagegen.Violation unless an open charge holds all that it took, and a settled one nothing.
func (c Charge) checkID(id imagegen.ChargeID) error {
	var held, open imagegen.Credits
	for _, p := range c.Postings {
		held += p.Took
	}
	if !c.Settled {
		open = c.Credits
	}
	if held != open || c.Used < 0 || c.Used > c.Credits {
		return broken("charge sum", id, "%d charged, %d used, %d held, settled: %t", c.Credits, c.Used, held, c.Settled)
	}
	return nil
}

// CheckCharge compares a record with its charge, see [imagegen.Record.CheckCharge]. known is false if there is no
// charge; one that cannot be read is known, and an error.
func CheckCharge(tx Tx, r imagegen.Record) (known bool, err error) {
	var c Charge
	err = kv.Spare(func() error { c, known = tx.Charge(r.Charge().ID); return nil })
	if err != nil || !known {
		return err != nil, err
	}
	return true, r.CheckCharge(imagegen.Charge{ID: r.Charge().ID, User: c.User, Credits: c.Credits}, c.Settled, c.Used)
}
