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
