package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
)

// busy is a ledger that has something in every bucket.
func busy(t *testing.T) *fixture {
	f := open(t)
	f.grant(imagegen.Grant{User: "alice", Credits: 1, Expires: time.Now().Add(time.Minute)})
	f.grant(imagegen.Grant{User: "alice", Credits: 10, Ref: "r", Expires: time.Now().Add(time.Hour)})
	f.chargeKey("c", "alice", 4)
	f.settle("c", 1)
	f.grant(imagegen.Grant{User: "alice", Credits: 1})
	f.charge("d", "alice", 2)
	f.settle("never charged", 0)
	f.sound()
	return f
}

// A check finds every value that was changed, removed or added, in any bucket.
func TestCheckFindsDamage(t *testing.T) {
	damage := map[string]func(tx kv.Tx, b kv.Bucket, key, value []byte){
		"first byte changed": func(tx kv.Tx, b kv.Bucket, key, value []byte) {
			value[0] ^= 1
			tx.Put(b, key, value)
		},
		"last byte changed": func(tx kv.Tx, b kv.Bucket, key, value []byte) {
			value[len(value)-1] ^= 1
			tx.Put(b, key, value)
		},
		"cut short": func(tx kv.Tx, b kv.Bucket, key, value []byte) { tx.Put(b, key, value[:len(value)/2]) },
		"removed":   func(tx kv.Tx, b kv.Bucket, key, _ []byte) { tx.Delete(b, key) },
		"added":     func(tx kv.Tx, b kv.Bucket, key, value []byte) { tx.Put(b, append(key, 1), value) },
		"moved": func(tx kv.Tx, b kv.Bucket, key, value []byte) {
			tx.Delete(b, key)
			tx.Put(b, append(key, 1), value)
		},
	}
	for _, b := range buckets {
		for how, harm := range damage {
			t.Run(string(b)+" "+how, func(t *testing.T) {
				f := busy(t)
				for i := range f.size(b) {
					f := busy(t)
					f.is.NoErr(f.db.Update(t.Context(), func(tx kv.Tx) error {
						key, value := pair(tx, b, i)
						harm(tx, b, key, value)
						return nil
					}))
					if len(f.violations()) == 0 {
						t.Errorf("pair %d of %d: nothing was found", i, f.size(b))
					}
				}
				f.is.True(f.size(b) > 0) // there was something to damage
			})
		}
	}
}

// pair is a copy of the i-th pair of a bucket.
func pair(tx kv.Tx, b kv.Bucket, i int) (key, value []byte) {
	tx.Ascend(b, nil, func(k, v []byte) bool {
		key, value = append([]byte{}, k...), append([]byte{}, v...)
		i--
		return i >= 0
	})
	return key, value
}

func TestCheckCounts(t *testing.T) {
	f := busy(t)
	f.is.NoErr(f.db.View(t.Context(), func(tx kv.Tx) error {
		counts, err := ledgerkv.Audit(t.Context(), tx, func(imagegen.Violation) {})
		f.is.NoErr(err)
		f.is.Equal(cmp.Diff(ledger.Counts{Entries: 7, Accounts: 1, Lots: 3, Charges: 3}, counts), "")
		return nil
	}))
}

// endsAfter is a context that ends after it was asked a number of times.
type endsAfter struct {
	context.Context
	calls *int
}

func (c endsAfter) Err() error {
	if *c.calls--; *c.calls < 0 {
		return context.Canceled
	}
	return nil
}

// A check that was cut short says so: it never looks like a clean one, nor like a violation.
func TestCheckCutShort(t *testing.T) {
	f := busy(t)
	calls := 0
	for done := false; !done; calls++ {
		f.is.NoErr(f.db.View(t.Context(), func(tx kv.Tx) error {
			left := calls
			ctx := endsAfter{t.Context(), &left}
			_, err := ledgerkv.Audit(ctx, tx, func(v imagegen.Violation) { t.Errorf("after %d: %+v", calls, v) })
			done = left >= 0
			f.is.Equal(err == nil, done)
			return nil
		}))
	}
	f.is.True(calls > f.size("ledger.journal")+f.size("ledger.charges")) // it looks at the context all the way
}

// full is a database without space.
type full struct{ kv.DB }

func (full) Update(context.Context, func(kv.Tx) error) error { return imagegen.ErrNotApplied }

// A record is held against what the books say of its charge, also where that was never made.
func TestCheckCharge(t *testing.T) {
	f := busy(t)
	generation := func(id imagegen.GenerationID, s imagegen.State, n int) imagegen.Record {
		return imagegen.Record{Intent: imagegen.Intent{ID: id, User: "alice", N: n, Price: 1},
			Progress: imagegen.Progress{State: s, Published: 1}}
	}
	for name, test := range map[string]struct {
		record imagegen.Record
		known  bool
		sound  bool
	}{
		"settled":                  {generation("c", imagegen.StateSucceeded, 4), true, true},
		"settled, and under way":   {generation("c", imagegen.StateProcessing, 4), true, false},
		"settled, another amount":  {generation("c", imagegen.StateSucceeded, 3), true, false},
		"open":                     {generation("d", imagegen.StateProcessing, 2), true, true},
		"open, and ended":          {generation("d", imagegen.StateSucceeded, 2), true, false},
		"never charged, queued":    {generation("never charged", imagegen.StateQueued, 1), true, false},
		"never charged, abandoned": {generation("never charged", imagegen.StateGone, 1), true, true},
		"unknown":                  {generation("unknown", imagegen.StateQueued, 1), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			is.NoErr(f.db.View(t.Context(), func(tx kv.Tx) error {
				known, err := ledger.CheckCharge(ledgerkv.Rows(tx), test.record)
				is.Equal(known, test.known)
				is.Equal(err == nil, test.sound)
				return nil
			}))
		})
	}
	is := is.New(t)
	is.NoErr(f.db.Update(t.Context(), func(tx kv.Tx) error {
		tx.Put("ledger.charges", kv.Key("c"), []byte{0})
		_, err := ledger.CheckCharge(ledgerkv.Rows(tx), generation("c", imagegen.StateSucceeded, 4))
		_, broken := errors.AsType[imagegen.Violation](err)
		is.True(err != nil && !broken) // a damaged one says nothing of the record
		return nil
	}))
}

// The generations of open charges, and of those that used credits, must be there.
func TestUnreturned(t *testing.T) {
	is, f := is.New(t), busy(t)
	f.charge("a returned", "alice", 1)
	f.settle("a returned", 0)
	is.NoErr(f.db.Update(t.Context(), func(tx kv.Tx) error {
		tx.Put("ledger.charges", kv.Key("a damaged"), []byte{0})
		var ids []imagegen.ChargeID
		ledger.Unreturned(ledgerkv.Rows(tx), func(id imagegen.ChargeID) bool {
			ids = append(ids, id)
			return len(ids) < 2
		})
		is.Equal(ids, []imagegen.ChargeID{"c", "d"})
		return nil
	}))
}
