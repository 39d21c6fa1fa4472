package ledger

import (
	"crypto/sha256"
	"iter"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Account is the sum over a user's lots, and the end of the user's journal. The account without a name is the
// system's: it has entries, for corrections of the clock and for settlements of unknown charges, but no credits.
type Account struct {
	User imagegen.UserID
	Totals
	Lots  uint64              // how many lots it has had, which is the number of the last one
	Next  imagegen.Expiration // which available credits expire first, and when; zero: none do
	Seq   uint64              // of its last entry, from 1 without gaps; 0: it has none
	Hash  [sha256.Size]byte   // of the last entry, as are the fields below
	Time  time.Time
	Epoch uint64
}

// Totals are the credits of an account, or what an entry adds to them.
type Totals struct {
	Available, Held, Granted, Spent, Expired, Revoked imagegen.Credits
}

// dated is the time of the account's next entry. It is never before the last entry's, unless the epoch rises:
// then the clock was corrected, and may have been set back.
func (a Account) dated(at time.Time, epoch uint64) time.Time {
	if a.Epoch == epoch && at.Before(a.Time) {
		return a.Time
	}
	return at
}

// addLot adds a lot, or a change of one. What went to a refund lot counts there.
func (t *Totals) addLot(l imagegen.Lot) {
	t.Available += l.Remaining
	t.Held += l.Held
	t.Granted += l.Granted - l.Moved
	t.Spent += l.Spent
	t.Expired += l.Expired
	t.Revoked += l.Revoked
}

// post adds what an entry does to the lots.
func (t *Totals) post(e Entry) {
	for _, p := range e.Postings {
		t.addLot(p.moves(e.Kind))
	}
	for _, l := range e.Lots {
		t.addLot(e.makes(l).Lot)
	}
}

// balanced reports whether everything that was granted is somewhere. This is double-entry bookkeeping: with
// −Granted as the account of the issuer, the postings of each entry sum to zero, and so do all accounts.
func (t Totals) balanced() bool {
	return t.Granted == t.Available+t.Held+t.Spent+t.Expired+t.Revoked
}

// checkSums returns an imagegen.Violation unless everything granted is somewhere. A total that ran over
// would be negative.
func (a Account) checkSums() error {
	if !sums(a.Granted, a.Available, a.Held, a.Spent, a.Expired, a.Revoked) ||
		a.Available > imagegen.MaxCredits-a.Held {
		return broken("zero sum", a.User, "the account has %+v", a.Totals)
	}
	return nil
}

// openAccount is one user's account in a transaction. Account is always as the last written entry left it.
type openAccount struct {
	Books
	Account
	seen []Lot // lots that were read since the last entry was written, which may change them
}

// accountOf reads a user's account.
func (b Books) accountOf(u imagegen.UserID) *openAccount {
	return &openAccount{Books: b, Account: b.tx.Account(u)}
}

// lot returns one of the account's lots. It reads each lot from the store at most once for each entry.
func (a *openAccount) lot(number uint64) (Lot, bool) {
	if n := slices.IndexFunc(a.seen, func(l Lot) bool { return l.Number == number }); n >= 0 {
		return a.seen[n], true
	}
	l, known := a.tx.Lot(a.User, number)
	if known {
		a.seen = append(a.seen, l)
	}
	return l, known
}

func (a *openAccount) expiring() iter.Seq[Lot] { return a.tx.Expiring(a.User) }

// balance is what can be spent now. What has expired does not count, whether or not it has been written
// off. Unless something has expired, it takes no read beside the account's.
func (a *openAccount) balance() imagegen.Balance {
	available, next := a.Available, a.Next
	if a.due() {
		available, next = a.left()
	}
	if next.At.IsZero() {
		return imagegen.Balance{Credits: available}
	}
	return imagegen.Balance{Credits: available, NextExpiration: &next}
}

// left is what is available without what has expired and has not been written off. It reads the expired lots and
// those that expire next.
func (a *openAccount) left() (available imagegen.Credits, next imagegen.Expiration) {
	available = a.Available
	for l := range a.expiring() {
		if l.expired(a.at.Now) {
			available -= l.Remaining
		} else if !next.At.IsZero() && next.At.Before(l.Expires) {
			break
		} else {
			next = soonest(next, l)
		}
	}
	return available, next
}

// due reports whether something has expired that has not been written off.
func (a *openAccount) due() bool { return !a.Next.At.IsZero() && !a.at.Now.Before(a.Next.At) }

// soonest takes one more lot into account for what expires first. Lots that expire at the same time add up.
func soonest(e imagegen.Expiration, l Lot) imagegen.Expiration {
	switch {
	case l.Remaining == 0 || l.Expires.IsZero():
	case e.At.IsZero() || l.Expires.Before(e.At):
		return imagegen.Expiration{Credits: l.Remaining, At: l.Expires}
	case l.Expires.Equal(e.At):
		e.Credits += l.Remaining
	}
	return e
}
