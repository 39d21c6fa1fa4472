// Package tables keeps generations, the queue of those that wait, users, keys, passwords, sign-ins and
// invitations in an ordered key-value database. It is written once, for whatever package kv is implemented over.
package tables

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Tables implements [imagegen.JointStore] over a key-value database and the ledger in it.
//
// A database belongs to one Tables at a time: leases are kept in memory, and so are over when
// another Tables loads it.
type Tables struct {
	db    kv.DB
	books *ledger.Ledger
	live  *live
	ahead time.Duration // of the clock by which delays were written, see Load

	// OnDamage is told of each generation that was found damaged and put aside. Set it before Load.
	OnDamage func(error)
	// OnMended is told why the turns of the queue were made anew. Set it before Load.
	OnMended func(error)

	keys  remembered[[32]byte, imagegen.Key] // by hash
	users remembered[imagegen.UserID, imagegen.User]
}

var _ imagegen.JointStore = (*Tables)(nil)

// New returns the tables of a database. Unless it is empty, call Load next, once. The time is that of
// the books.
func New(db kv.DB, books *ledger.Ledger) *Tables {
	return &Tables{db: watched{db}, books: books, live: newLive()}
}

// now is the clock of leases and delays. It goes on steadily, whatever becomes of the wall clock.
func (t *Tables) now() time.Time { return t.books.Read().Steady.Add(t.ahead) }

// Load takes up what a former process left. All leases are over, and nothing waits for longer than its
// delay: it may have been written by a clock that was ahead. It reads the open generations, not those
// of the past.
func (t *Tables) Load(ctx context.Context) error {
	if err := t.loadTurns(ctx); err != nil {
		return err
	}
	now := t.now()
	return t.db.View(ctx, func(tx kv.Tx) error {
		damaged, err := eachOpen(tx, func(r row) error {
			t.live.found(r)
			if !r.due.IsZero() {
				t.ahead = max(t.ahead, r.due.Sub(now)-r.Delay)
			}
			return nil
		})
		for _, why := range damaged {
			t.tell(why)
		}
		return err
	})
}

// write runs f in a transaction. now is read once, outside of it: f may run again.
func (t *Tables) write(ctx context.Context, f func(tx kv.Tx, now time.Time) (row, error)) (imagegen.Record, error) {
	var r row
	now := t.now()
	err := t.db.Update(ctx, func(tx kv.Tx) (err error) {
		r, err = f(tx, now)
		return err
	})
	return r.Record, err
}

// act is trail.Act in this database.
func (t *Tables) act(ctx context.Context, act imagegen.Act, f func(kv.Tx) (trail.Change, error)) error {
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
