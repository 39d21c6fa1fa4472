package ledgerkv

import (
	"encoding/binary"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// What all else follows from, by the names of its buckets.
const (
	JournalIn kv.Bucket = "ledger.journal"
	ClockIn   kv.Bucket = "ledger.clock"
)

// JournalKey is where an entry lies in the journal.
func JournalKey(p ledger.Place) []byte { return kv.Key(string(p.User), p.Seq) }

// JournalPlace undoes JournalKey.
func JournalPlace(key []byte) (p ledger.Place, ok bool) {
	n := len(key) - 9
	if n < 0 || key[n] != 0 {
		return p, false
	}
	return ledger.Place{User: imagegen.UserID(key[:n]), Seq: binary.BigEndian.Uint64(key[n+1:])}, true
}

// ClockKey is where what is known of the clock lies.
func ClockKey() []byte { return only }

// How rows are kept, also where they do not lie in kv.

// AccountForm is how an account is kept.
func AccountForm(c *kv.Coder, a *ledger.Account) { accountForm(c, a) }

// LotForm is how a lot is kept.
func LotForm(c *kv.Coder, l *ledger.Lot) { lotForm(c, l) }

// UsageForm is how a row of usage is kept.
func UsageForm(c *kv.Coder, u *ledger.Usage) { usageForm(c, u) }

// TotalForm is how the total of an API key is kept.
func TotalForm(c *kv.Coder, t *ledger.KeyTotal) { totalForm(c, t) }
