package ledger

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// account is the totals of a user. Granted = Available + Held + Spent + Expired + Revoked.
type account struct {
	Available, Held, Granted, Spent, Expired, Revoked imagegen.Credits
}

func (a *account) fields() []*imagegen.Credits {
	return []*imagegen.Credits{&a.Available, &a.Held, &a.Granted, &a.Spent, &a.Expired, &a.Revoked}
}

func readAccount(tx kv.Tx, u imagegen.UserID) (a account) {
	b := tx.Get(accounts, userKey(u))
	if b == nil {
		return a
	}
	return decodeAccount(b)
}

func decodeAccount(b []byte) (a account) {
	r := kv.NewReader(b)
	for _, f := range a.fields() {
		*f = imagegen.Credits(r.Int())
	}
	return a
}

func (a account) write(tx kv.Tx, u imagegen.UserID) {
	w := make(kv.Writer, 0, 32)
	for _, f := range a.fields() {
		w.Int(int64(*f))
	}
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

// spendable is Balance without its expiration.
func (b Books) spendable(u imagegen.UserID, a account) imagegen.Credits {
	eachLapsing(b.tx, u, func(at time.Time, credits imagegen.Credits) bool {
		if b.now.Before(at) {
			return false
		}
		a.Available -= credits
		return true
	})
	return a.Available
}

// eachLapsing tells when how many of a user's credits lapse, soonest first.
func eachLapsing(tx kv.Tx, u imagegen.UserID, f func(at time.Time, credits imagegen.Credits) bool) {
	prefix := userKey(u)
	tx.Ascend(lapseSum, prefix, func(key, value []byte) bool {
		if !bytes.HasPrefix(key, prefix) {
			return false
		}
		return f(timeOfKey(key[len(prefix):]), decodeSum(value))
	})
}

// timeOfKey undoes kv.TimeKey.
func timeOfKey(b []byte) time.Time {
	return time.Unix(0, int64(binary.BigEndian.Uint64(b)^1<<63)).UTC()
}
