package ledger

import (
	"strings"

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
	lapsing  kv.Bucket = "ledger.lapsing"  // user, expiry, lot number → key of a live lot that expires
	lapseSum kv.Bucket = "ledger.sums"     // user, expiry → credits of live lots that lapse then
	due      kv.Bucket = "ledger.due"      // expiry, user, lot number → key of a live lot that expires
	charges  kv.Bucket = "ledger.charges"  // charge → what it took, and how it was settled
	refs     kv.Bucket = "ledger.refs"     // reference of a grant or revocation → its entry's sequence
)

var stateBuckets = []kv.Bucket{history, headIs, accounts, live, spent, lapsing, lapseSum, due, charges, refs}

// seenAt is no state of the ledger: when the clock was last seen running.
const seenAt kv.Bucket = "clock.seen"

var only = []byte{0} // the key in a bucket that has one

func userKey(u imagegen.UserID) []byte { return kv.Key(string(u)) }

// validID reports whether an identifier can stand in a key.
func validID(s string) bool { return s != "" && len(s) <= 255 && !strings.Contains(s, "\x00") }
