package ledger

import (
	"encoding/binary"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// account is the totals over a user's lots, or what an entry adds to them.
type account struct {
	Available, Held, Granted, Spent, Expired, Revoked imagegen.Credits
}

// accountRow is an account as it is stored.
type accountRow struct {
	account
	last  time.Time // of its last entry
	epoch uint64    // of that
}

// dated is the time of an entry that comes next: an account's time falls only where its epoch rises.
func (a accountRow) dated(e entry) time.Time {
	if a.epoch == e.epoch && e.Time.Before(a.last) {
		return a.last
	}
	return e.Time
}

// add adds a lot, or a change of one. What went to a refund lot counts there.
func (a *account) add(l imagegen.Lot) {
	a.Available += l.Remaining
	a.Held += l.Held
	a.Granted += l.Granted - l.Moved
	a.Spent += l.Spent
	a.Expired += l.Expired
	a.Revoked += l.Revoked
}

// balanced reports whether everything granted is somewhere: with the issuer's −Granted, the postings
// of an entry sum to zero, and so do those of all accounts.
func (a account) balanced() bool {
	return a.Granted == a.Available+a.Held+a.Spent+a.Expired+a.Revoked
}

// check returns an imagegen.Violation unless everything granted is somewhere. A total that ran over
// would be negative.
func (a account) check(u imagegen.UserID) error {
	if !sums(a.Granted, a.Available, a.Held, a.Spent, a.Expired, a.Revoked) || a.Available > imagegen.MaxCredits-a.Held {
		return broken("zero sum", u, "the account has %+v", a)
	}
	return nil
}

func (a *account) fields() []*imagegen.Credits {
	return []*imagegen.Credits{&a.Available, &a.Held, &a.Granted, &a.Spent, &a.Expired, &a.Revoked}
}

func readAccount(tx kv.Tx, u imagegen.UserID) (a accountRow) {
	b := tx.Get(accounts, userKey(u))
	if b == nil {
		return a
	}
	return decodeAccount(b)
}

func decodeAccount(b []byte) (a accountRow) {
	r := kv.NewReader(b)
	for _, f := range a.fields() {
		*f = imagegen.Credits(r.Int())
	}
	a.last, a.epoch = r.Time(), r.Uint()
	return a
}

func (a accountRow) write(tx kv.Tx, u imagegen.UserID) {
	w := make(kv.Writer, 0, 40)
	for _, f := range a.fields() {
		w.Int(int64(*f))
	}
	w.Time(a.last)
	w.Uint(a.epoch)
	tx.Put(accounts, userKey(u), w)
}

// Balance is what a user can spend at this time: what is due to lapse no longer counts, whether or
// not it has been written off.
func (b Books) Balance(u imagegen.UserID) imagegen.Balance {
	balance := imagegen.Balance{Credits: readAccount(b.tx, u).Available}
	eachLapsing(b.tx, u, func(at time.Time, credits imagegen.Credits) bool {
		if !b.now.Before(at) {
			balance.Credits -= credits
			return true
		}
		balance.NextExpiration = &imagegen.Expiration{Credits: credits, At: at}
		return false
	})
	return balance
}

// eachLapsing tells when how many of a user's credits lapse, soonest first.
func eachLapsing(tx kv.Tx, u imagegen.UserID, f func(at time.Time, credits imagegen.Credits) bool) {
	ascendUser(tx, lapseSum, u, func(at, sum []byte) bool { return f(timeOfKey(at), decodeSum(sum)) })
}

// timeOfKey undoes kv.TimeKey.
func timeOfKey(b []byte) time.Time {
	return time.Unix(0, int64(binary.BigEndian.Uint64(b)^1<<63)).UTC()
}
