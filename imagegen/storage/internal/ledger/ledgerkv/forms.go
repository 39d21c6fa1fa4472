package ledgerkv

import (
	"encoding/binary"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// The buckets from which all others of the ledger follow. Of the ledger's, a move copies only these two.
const (
	JournalIn kv.Bucket = "ledger.journal"
	ClockIn   kv.Bucket = "ledger.clock"
)

// JournalKey is where an entry lies in the journal.
func JournalKey(p ledger.Place) []byte { return kv.Key(string(p.User), p.Seq) }

// JournalPlace undoes JournalKey; ok is false for a key that JournalKey did not make.
func JournalPlace(key []byte) (p ledger.Place, ok bool) {
	n := len(key) - 9
	if n < 0 || key[n] != 0 {
		return p, false
	}
	return ledger.Place{User: imagegen.UserID(key[:n]), Seq: binary.BigEndian.Uint64(key[n+1:])}, true
}

// ClockKey is the key of the clock's mark in ClockIn.
func ClockKey() []byte { return only }

// The encodings of rows, for a store that keeps them elsewhere than in kv.

// AccountForm is how an account is kept.
func AccountForm(c *kv.Coder, a *ledger.Account) { accountForm(c, a) }

// LotForm is how a lot is kept.
func LotForm(c *kv.Coder, l *ledger.Lot) { lotForm(c, l) }

// UsageForm is how a row of usage is kept.
func UsageForm(c *kv.Coder, u *ledger.Usage) { usageForm(c, u) }

// TotalForm is how the total of an API key is kept.
func TotalForm(c *kv.Coder, t *ledger.KeyTotal) { totalForm(c, t) }
