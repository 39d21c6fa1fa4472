package ledger

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Lot is a lot as it is kept: without its ID, which follows from its user and its number.
type Lot struct {
	imagegen.Lot
	Number uint64 // among its user's lots, from 1 without gaps, as they were made
	Refund bool   // a refund lot: of credits that came back after their own lot had expired
}

// Compare orders the lots of a user as they are consumed: lowest priority, earliest expiry (none last),
// promotional before paid, earliest effective, in the order in which they were made. Indexes of stores keep to
// the same order.
func (l Lot) Compare(o Lot) int {
	return cmp.Or(cmp.Compare(l.Priority, o.Priority), compareExpiry(l.Expires, o.Expires),
		cmp.Compare(l.paid(), o.paid()), l.Effective.Compare(o.Effective), cmp.Compare(l.Number, o.Number))
}

// CompareExpiry orders the lots of a user as they expire.
func (l Lot) CompareExpiry(o Lot) int {
	return cmp.Or(compareExpiry(l.Expires, o.Expires), cmp.Compare(l.Number, o.Number))
}

// compareExpiry orders expiries; the zero time, which means never, comes last.
func compareExpiry(a, b time.Time) int {
	if a.IsZero() || b.IsZero() {
		return b.Compare(a)
	}
	return a.Compare(b)
}

// paid orders promotional lots before paid ones.
func (l Lot) paid() int {
	if l.Promo {
		return 0
	}
	return 1
}

// lotID is the identifier of a lot. The checksum of the user's name in it keeps an operator who mistypes a user
// or a lot from taking credits from somebody else's lot.
func lotID(u imagegen.UserID, number uint64) string {
	return fmt.Sprintf("lot_%d_%08x", number, crc32.ChecksumIEEE([]byte(u)))
}

// public is the lot as callers see it at the given time, with its ID. Expired credits count as such whether or not
// they have been written off.
func (l Lot) public(now time.Time) imagegen.Lot {
	if l.expired(now) {
		l.Expired, l.Remaining = l.Expired+l.Remaining, 0
	}
	l.ID = lotID(l.User, l.Number)
	return l.Lot
}

// lotNamed returns the account's lot with an identifier; known is false for another user's, or no, identifier.
func (a *openAccount) lotNamed(id string) (l Lot, known bool) {
	var number uint64
	if _, err := fmt.Sscanf(id, "lot_%d_", &number); err != nil || lotID(a.User, number) != id {
		return l, false
	}
	return a.lot(number)
}

// refundLife is how long after their first expiry credits that come back can be spent.
const refundLife = 24 * time.Hour

// refundExpires is when credits expire that come back to this lot after it has expired itself. A refund lot passes
// on its own expiry: otherwise work that fails again and again would keep the credits alive for ever.
func (l Lot) refundExpires() time.Time {
	if l.Refund {
		return l.Expires
	}
	return l.Expires.Add(refundLife)
}

// expired reports whether the lot can no longer be spent at the given time.
func (l Lot) expired(now time.Time) bool { return !l.Expires.IsZero() && !now.Before(l.Expires) }

// plus returns the lot after a change.
func (l Lot) plus(change imagegen.Lot) Lot {
	l.Remaining += change.Remaining
	l.Held += change.Held
	l.Spent += change.Spent
	l.Expired += change.Expired
	l.Revoked += change.Revoked
	l.Moved += change.Moved
	return l
}

// checkSum returns an imagegen.Violation unless all that was granted is somewhere.
func (l Lot) checkSum() error {
	if !l.Granted.Valid() || !sums(l.Granted, l.Remaining, l.Held, l.Spent, l.Expired, l.Revoked, l.Moved) {
		return broken("lot sum", lotID(l.User, l.Number),
			"granted %d is not remaining %d + held %d + spent %d + expired %d + revoked %d + moved %d", l.Granted,
			l.Remaining, l.Held, l.Spent, l.Expired, l.Revoked, l.Moved)
	}
	return nil
}

// sums reports whether the parts, none of them negative, make up the whole. It subtracts them from the whole
// instead of adding them up, so that nothing can overflow.
func sums(whole imagegen.Credits, parts ...imagegen.Credits) bool {
	for _, part := range parts {
		if part < 0 || part > whole {
			return false
		}
		whole -= part
	}
	return whole == 0
}

// expireBatch is the most lots that one entry, and one call of Expire, writes off, so that neither entries nor
// transactions grow without bound.
const expireBatch = 500

// Expire writes off up to 500 lots that have expired, of any users, and remembers the time. more reports
// whether others may be due. It is meant for a background loop: what has expired no longer counts,
// whether or not Expire has run. With an error it has written nothing, or the outcome is unknown.
func (l *Ledger) Expire(ctx context.Context) (more bool, err error) {
	err = l.update(ctx, func(b Books) error {
		left := expireBatch
		for _, u := range b.dueUsers() {
			a := b.accountOf(u)
			lost := a.lost(left)
			if err := a.writeOff(lost); err != nil {
				return err
			}
			if left -= len(lost); left == 0 {
				break
			}
		}
		more = left == 0
		b.remember()
		return nil
	})
	return more && err == nil, err
}

// ExpireAll calls Expire until nothing is due.
func (l *Ledger) ExpireAll(ctx context.Context) error {
	for {
		more, err := l.Expire(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// dueUsers returns users of whose lots some have expired, up to as many as a batch has lots. They are collected
// first, since nothing may be written while Due runs.
func (b Books) dueUsers() (users []imagegen.UserID) {
	for u := range b.tx.Due(b.at.Now) {
		if users = append(users, u); len(users) == expireBatch {
			break
		}
	}
	return users
}

// expire writes off everything of the account that has expired.
func (a *openAccount) expire() error {
	if !a.due() {
		return nil
	}
	return a.writeOff(a.lost(-1))
}

// lost finds up to n lots that have expired and are not written off; all if n is negative.
func (a *openAccount) lost(n int) (lost []Posting) {
	for l := range a.expiring() {
		if len(lost) == n || !l.expired(a.at.Now) {
			break
		}
		lost = append(lost, Posting{Lot: l.Number, Took: l.Remaining})
	}
	return lost
}

// writeOff records expired credits, up to expireBatch lots in each entry.
func (a *openAccount) writeOff(lost []Posting) error {
	for postings := range slices.Chunk(lost, expireBatch) {
		e := Entry{Entry: imagegen.Entry{Kind: imagegen.EntryExpire}, Postings: postings}
		for _, p := range postings {
			e.Credits -= p.Took
		}
		if _, err := a.record(e); err != nil {
			return err
		}
	}
	return nil
}
