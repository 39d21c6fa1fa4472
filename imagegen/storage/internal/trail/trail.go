// Package trail keeps the audit trail in an ordered key-value database: rows in the order in which they
// were written, each with the hash of the one before it.
package trail

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

const (
	rows kv.Bucket = "trail"      // sequence → row, with its hash behind it
	ends kv.Bucket = "trail.ends" // newest, removed → sequence and hash
)

var (
	newest  = []byte("newest")  // the last row
	removed = []byte("removed") // the last of those that were removed
)

// Trail implements [account.TrailStore] over a key-value database. It is safe for concurrent use.
type Trail struct {
	*Failures
	db  kv.DB
	now func() time.Time
}

var _ account.TrailStore = (*Trail)(nil)

// New returns the trail in db. now tells the time.
func New(db kv.DB, now func() time.Time) *Trail {
	write := func(ctx context.Context, rows []account.TrailRow) error {
		return db.Update(ctx, func(tx kv.Tx) error {
			for _, r := range rows {
				if err := Append(tx, r); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return &Trail{NewFailures(now, write), db, now}
}

// Change is what an act did, or would have done had it not been refused. The zero Change: nothing.
type Change struct {
	Target        string
	User          imagegen.UserID // whose the target is
	Before, After string          // see Fields
}

// Act runs f, which changes something, and puts its row into the same transaction: neither stands
// without the other. f is as [kv.DB] wants it, and returns with a refusal what was to be changed.
func Act(ctx context.Context, db kv.DB, now time.Time, act account.Act, f func(kv.Tx) (Change, error)) error {
	return ActIn(ctx, now, act, db.Update, Append, f)
}

// ActIn is Act where transactions are others: update runs one, and note puts a row at the end of the trail.
func ActIn[Tx any](ctx context.Context, now time.Time, act account.Act, update func(context.Context, func(Tx) error) error,
	note func(Tx, account.TrailRow) error, f func(Tx) (Change, error)) error {
	var c Change
	row := func(o account.TrailOutcome) account.TrailRow {
		return account.TrailRow{Time: now, Actor: account.ActorOf(ctx), Act: act, Target: c.Target, User: c.User, Before: c.Before, After: c.After, Outcome: o}
	}
	err := update(ctx, func(tx Tx) (err error) {
		if c, err = f(tx); err != nil || c == (Change{}) {
			return err
		}
		return note(tx, row(account.TrailDone))
	})
	if imagegen.Definite(err) && !errors.Is(err, imagegen.ErrNotApplied) && c != (Change{}) {
		// Nothing was changed, so that there is nothing to take back if this cannot be written.
		_ = update(ctx, func(tx Tx) error { return note(tx, row(account.TrailRefused)) })
	}
	return err
}

// Note implements [account.TrailStore].
func (t *Trail) Note(ctx context.Context, r account.TrailRow) error {
	r.Time, r.Actor = t.now(), account.ActorOf(ctx)
	return t.db.Update(ctx, func(tx kv.Tx) error { return Append(tx, r) })
}

// Append puts a row at the end of the trail; its Seq is given to it.
func Append(tx kv.Tx, r account.TrailRow) error {
	last, err := readEnd(tx, newest)
	if err != nil {
		return err
	}
	r = Kept(r)
	r.Seq = last.seq + 1
	encoded := kv.Encode(&r, code)
	hash := kv.Chained(last.hash, encoded)
	tx.Put(rows, kv.Key(r.Seq), append(encoded, hash[:]...))
	end{r.Seq, hash}.write(tx, newest)
	return nil
}

// Head is where the end of the trail stands that Append goes on from: who knows what it will read can read it
// beforehand.
func Head() (kv.Bucket, []byte) { return ends, newest }

// end is one end of the chain.
type end struct {
	seq  uint64
	hash [sha256.Size]byte
}

// readEnd returns the zero end of a trail that has none yet.
func readEnd(tx kv.Tx, which []byte) (e end, err error) {
	b := tx.Get(ends, which)
	if b == nil {
		return e, nil
	}
	if err := kv.Decode(b, &e, codeEnd); err != nil {
		return e, fmt.Errorf("trail: the %s end cannot be read; run an audit: %w", which, err)
	}
	return e, nil
}

func (e end) write(tx kv.Tx, which []byte) { tx.Put(ends, which, kv.Encode(&e, codeEnd)) }

func codeEnd(c *kv.Coder, e *end) {
	c.Version(1)
	kv.Number(c, &e.seq)
	kv.Fixed(c, e.hash[:])
}
