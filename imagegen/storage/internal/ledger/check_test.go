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
	"github.com/imagegend/imagegend/imagegen/storage/internal/memkv"
)

// busy is a ledger that has something in every bucket.
func busy(t *testing.T) *fixture {
	f := open(t)
	f.grant(imagegen.Grant{User: "alice", Credits: 1, Expires: time.Now().Add(time.Minute)})
	f.grant(imagegen.Grant{User: "alice", Credits: 10, Ref: "r", Expires: time.Now().Add(time.Hour)})
	f.charge("c", "alice", 4)
	f.settle("c", 1)
	f.grant(imagegen.Grant{User: "alice", Credits: 1})
	f.charge("d", "alice", 2)
	f.settle("never charged", 0)
	f.sound()
	return f
}

// Whatever is changed, removed or added in whatever bucket, it is found.
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
	for _, b := range []kv.Bucket{"ledger.journal", "ledger.history", "ledger.head", "ledger.accounts", "ledger.live", "ledger.spent",
		"ledger.sums", "ledger.due", "ledger.charges", "ledger.refs"} {
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
		counts, err := ledger.Check(t.Context(), tx, memkv.New(), func(imagegen.Violation) {})
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
			_, err := ledger.Check(ctx, tx, memkv.New(), func(v imagegen.Violation) { t.Errorf("after %d: %+v", calls, v) })
			done = left >= 0
			f.is.Equal(err == nil, done)
			return nil
		}))
	}
	f.is.True(calls > f.size("ledger.journal")+f.size("ledger.charges")) // it looks at the context all the way
}

// A scratch database that fails is no violation.
func TestCheckWithoutScratch(t *testing.T) {
	f := busy(t)
	f.is.NoErr(f.db.View(t.Context(), func(tx kv.Tx) error {
		_, err := ledger.Check(t.Context(), tx, full{}, func(v imagegen.Violation) { t.Errorf("%+v", v) })
		f.is.True(errors.Is(err, imagegen.ErrNotApplied))
		return nil
	}))
}

// full is a database without space.
type full struct{ kv.DB }

func (full) Update(context.Context, func(kv.Tx) error) error { return imagegen.ErrNotApplied }

func TestChargeOf(t *testing.T) {
	is, f := is.New(t), busy(t)
	type charge struct {
		Charge         imagegen.Charge
		Settled, Known bool
		Used           imagegen.Credits
	}
	of := func(id imagegen.ChargeID) (c charge) {
		is.NoErr(f.db.View(t.Context(), func(tx kv.Tx) error {
			c.Charge, c.Settled, c.Used, c.Known = ledger.ChargeOf(tx, id)
			return nil
		}))
		return c
	}
	is.Equal(cmp.Diff(charge{imagegen.Charge{ID: "c", User: "alice", Credits: 4}, true, true, 1}, of("c")), "")
	is.Equal(cmp.Diff(charge{imagegen.Charge{ID: "d", User: "alice", Credits: 2}, false, true, 0}, of("d")), "")
	is.Equal(cmp.Diff(charge{imagegen.Charge{ID: "never charged"}, true, true, 0}, of("never charged")), "")
	is.True(!of("unknown").Known)
}
