// Package tables keeps generations, users, keys, passwords, sign-ins and invitations in an ordered
// key-value database, as declarations over package table.
package tables

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Tables implements [imagegen.JointStore] over a key-value database and the ledger in it.
//
// A database belongs to one Tables at a time: the queue and the leases are kept in memory.
type Tables struct {
	db    kv.DB
	books *ledger.Ledger
	work  *work

	// OnDamage is told of each generation that was found damaged and put aside. Set it before Load.
	OnDamage func(error)

	keys  cache[[32]byte, imagegen.Key] // by hash
	users cache[imagegen.UserID, imagegen.User]
}

var _ imagegen.JointStore = (*Tables)(nil)

// New returns the tables of a database. Unless it is empty, call Load next, once. The time is that of
// the books.
func New(db kv.DB, books *ledger.Ledger) *Tables {
	return &Tables{db: db, books: books, work: newWork()}
}

// Load takes up what a former process left. All leases are over, and nothing waits for longer than its
// delay: it may have been written by a clock that was ahead. It reads the open generations, not those
// of the past.
func (t *Tables) Load(ctx context.Context) error {
	at := t.books.Read()
	return t.db.View(ctx, func(tx kv.Tx) error {
		damaged, err := eachOpen(tx, func(r row) error {
			t.work.found(r, at)
			return nil
		})
		for _, why := range damaged {
			t.tell(why)
		}
		return err
	})
}

// write runs f in a transaction. The clock is read once, outside of it: f may run again.
func (t *Tables) write(ctx context.Context, f func(tx kv.Tx, at clock.Reading) (row, error)) (imagegen.Record, error) {
	var r row
	at := t.books.Read()
	err := t.db.Update(ctx, func(tx kv.Tx) (err error) {
		r, err = f(tx, at)
		return err
	})
	return r.Record, err
}

// act is trail.Act in this database.
func (t *Tables) act(ctx context.Context, act account.Act, f func(kv.Tx) (trail.Change, error)) error {
	return trail.Act(ctx, t.db, t.books.Read().Wall, act, f)
}

// view returns what f reads in a snapshot.
func view[T any](ctx context.Context, db kv.DB, f func(tx kv.Tx) (T, error)) (v T, err error) {
	err = db.View(ctx, func(tx kv.Tx) (err error) {
		v, err = f(tx)
		return err
	})
	return v, err
}

// KeepFor has what is kept in memory of users and keys read anew after a time: others may change it. Set
// it before the first call.
func (t *Tables) KeepFor(age time.Duration) { t.keys.age, t.users.age = age, age }
