package tables_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// twice runs every write again, as a database does that could not commit it with its neighbours.
type twice struct{ kv.DB }

func (d twice) Update(ctx context.Context, f func(kv.Tx) error) error {
	again := errors.New("again")
	err := d.DB.Update(ctx, func(tx kv.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		return again
	})
	if !errors.Is(err, again) {
		return err
	}
	return d.DB.Update(ctx, f)
}

func TestWritesMayRunAgain(t *testing.T) {
	t.Run("store", func(t *testing.T) {
		storagetest.Store(t, func(t *testing.T) imagegen.Store { return open(t, twice{kvtest.New()}) })
	})
	t.Run("joint", func(t *testing.T) {
		storagetest.Joint(t, func(t *testing.T) (imagegen.TxStore, imagegen.CreditAdmin) {
			d := open(t, twice{kvtest.New()})
			return d, d.Ledger
		})
	})
}

// counted counts what transactions write outside the ledger.
type counted struct {
	kv.DB
	puts, deletes map[kv.Bucket]int
}

type countedTx struct {
	kv.Tx
	*counted
}

func (d *counted) Update(ctx context.Context, f func(kv.Tx) error) error {
	return d.DB.Update(ctx, func(tx kv.Tx) error { return f(countedTx{tx, d}) })
}

func (t countedTx) Put(b kv.Bucket, key, value []byte) {
	t.puts[b]++
	t.Tx.Put(b, key, value)
}

func (t countedTx) Delete(b kv.Bucket, key []byte) {
	t.deletes[b]++
	t.Tx.Delete(b, key)
}

// A synchronous generation writes little: it is the hot path.
func TestHotPathWrites(t *testing.T) {
	is := is.New(t)
	c := &counted{kvtest.New(), map[kv.Bucket]int{}, map[kv.Bucket]int{}}
	d := open(t, c)
	_, err := d.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 6})
	is.NoErr(err)
	clear(c.puts)
	r := recordNo(1, false)
	r.IdempotencyKey = ""
	r, err = d.CreateCharged(t.Context(), r, time.Hour)
	is.NoErr(err)
	d.finish(t, r, outcomeOf(r))
	d.finish(t, r, outcomeOf(r)) // a repetition writes nothing
	own := func(m map[kv.Bucket]int) (n int) {
		for b, times := range m {
			if !strings.HasPrefix(string(b), "ledger.") {
				n += times
			}
		}
		return n
	}
	is.Equal(own(c.puts), 7)    // record, open, listed; record, ended, listed, totals
	is.Equal(own(c.deletes), 2) // open, listed
}

func TestKeysAreNotOverwritten(t *testing.T) {
	is := is.New(t)
	d := open(t, kvtest.New())
	k := imagegen.Key{ID: "key_1", User: "alice", Name: "first", Hash: [32]byte{1}}
	is.NoErr(d.CreateKey(t.Context(), k))
	for _, other := range []imagegen.Key{{ID: "key_1", User: "bob", Hash: [32]byte{2}}, {ID: "key_2", User: "bob",
		Hash: [32]byte{1}}} {
		is.True(errors.Is(d.CreateKey(t.Context(), other), imagegen.ErrExists))
	}
	ks, err := d.Keys(t.Context(), "bob")
	is.NoErr(err)
	is.Equal(len(ks), 0)
	got, err := d.KeyByHash(t.Context(), k.Hash)
	is.NoErr(err)
	is.Equal(got, k)
	is.True(errors.Is(d.CreateKey(t.Context(), imagegen.Key{ID: "key_3", User: "a\x00b"}), imagegen.ErrInvalidRequest))
	is.True(errors.Is(d.CreateUser(t.Context(), imagegen.User{ID: "a\x00b"}), imagegen.ErrInvalidRequest))
}

// unwritable runs every write and commits none.
type unwritable struct{ kv.DB }

func (d unwritable) Update(ctx context.Context, f func(kv.Tx) error) error {
	return d.DB.Update(ctx, func(tx kv.Tx) error { return errors.Join(f(tx), imagegen.ErrNotApplied) })
}

// A record that was not claimed is not returned: another process may work on it.
func TestRecoverThatIsNotCommitted(t *testing.T) {
	is := is.New(t)
	in := kvtest.New()
	_, err := open(t, in).Create(t.Context(), recordNo(1, true), 0)
	is.NoErr(err)
	d := open(t, unwritable{in})
	rs, err := d.Recover(t.Context(), 10, time.Hour)
	is.True(errors.Is(err, imagegen.ErrNotApplied))
	is.Equal(len(rs), 0)
}

// A database belongs to one Tables at a time, so that the handles that share it share that; what two would
// remember apart, leases above all, is noticed.
func TestShared(t *testing.T) {
	storagetest.SharedStore(t, func(t *testing.T) (one, other imagegen.Store) {
		db := kvtest.New()
		one = open(t, db)
		return one, one
	})
}
