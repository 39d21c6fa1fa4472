package ledger

import (
	"bytes"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// The ledger's state. Only apply writes it.
const (
	journal  kv.Bucket = "ledger.journal"  // sequence → entry
	history  kv.Bucket = "ledger.history"  // user, sequence → present
	headIs   kv.Bucket = "ledger.head"     // sequence, hash and time of the last entry
	accounts kv.Bucket = "ledger.accounts" // user → totals
	live     kv.Bucket = "ledger.live"     // lot key → lot with credits that can be spent, in burning order
	spent    kv.Bucket = "ledger.spent"    // lot key → lot with none, so that charging need not pass it
	lapseSum kv.Bucket = "ledger.sums"     // user, expiry → credits of live lots that lapse then
	due      kv.Bucket = "ledger.due"      // expiry, user, lot number → key of a live lot that expires
	charges  kv.Bucket = "ledger.charges"  // charge → what it took, and how it was settled
	refs     kv.Bucket = "ledger.refs"     // reference of a grant or revocation → its entry's sequence
	days     kv.Bucket = "ledger.days"     // user, day → credits that were spent on it
)

// derived are the buckets that follow from the journal.
var derived = []kv.Bucket{history, headIs, accounts, live, spent, lapseSum, due, charges, refs, days}

var only = []byte{0} // the key in a bucket that has one

func userKey(u imagegen.UserID) []byte { return kv.Key(string(u)) }

// ascendUser goes over a user's pairs in a bucket whose keys begin with the user, while f returns
// true; rest is what follows in the key. An invalid user has none: its key could begin as another's.
func ascendUser(tx kv.Tx, b kv.Bucket, u imagegen.UserID, f func(rest, value []byte) bool) {
	if !u.Valid() {
		return
	}
	prefix := userKey(u)
	tx.Ascend(b, prefix, func(key, value []byte) bool {
		rest, mine := bytes.CutPrefix(key, prefix)
		return mine && f(rest, value)
	})
}
