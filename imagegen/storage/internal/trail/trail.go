// Package trail keeps the audit trail in an ordered key-value database: rows in the order in which they
// were written, each with the hash of the one before it.
//
// Stores write the trail themselves. They run each act of an operator through Act, which puts its row into
// the act's own transaction; acts.go says what the rows tell. Failed sign-ins do not get a row each: Failures
// counts them. Storages that keep the trail elsewhere share everything but the chain.
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

// The buckets of the trail.
const (
	Rows kv.Bucket = "trail"      // sequence → row, with its hash behind it
	Ends kv.Bucket = "trail.ends" // newest, removed, corrected → sequence and hash
)

var (
	newest  = []byte("newest")  // the last row: the next one continues from its number and hash
	removed = []byte("removed") // the last of the rows that were removed: the oldest one left continues from it
	// corrected is the last row of a correction of the clock: the rows before it may have later times.
	corrected = []byte("corrected")
)

// Trail implements [account.TrailStore] over a key-value database. It is safe for concurrent use.
type Trail struct {
	*Failures
	db  kv.DB
	now func() time.Time
}

var _ account.TrailStore = (*Trail)(nil)

// New returns the trail in db. now is the judged time, so that the times of rows fall only where the clock was
// corrected.
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

// Change is what an act did, or would have done if it had not been refused. The zero Change stands for an act that
// changed nothing, such as a repetition: it gets no row.
type Change struct {
	Target        string
	User          imagegen.UserID // whose the target is
	Before, After string          // see Fields
}

// Act runs f, which changes something, and puts its row into the same transaction: there is neither without the
// other. f follows the rules of [kv.DB]. With a refusal it returns what it was to change. If a definite error
// refuses the act, a row that says so is written in a transaction of its own; if that fails, the failure is dropped.
// update runs a transaction, and note puts a row at the end of the trail.
func Act[Tx any](ctx context.Context, now time.Time, act account.Act,
	update func(context.Context, func(Tx) error) error, note func(Tx, account.TrailRow) error,
	f func(Tx) (Change, error)) error {
	var c Change // what the last run of f returned
	row := func(o account.TrailOutcome) account.TrailRow {
		return account.TrailRow{Time: now, Actor: account.ActorOf(ctx), Act: act, Target: c.Target, User: c.User,
			Before: c.Before, After: c.After, Outcome: o}
	}
	err := update(ctx, func(tx Tx) (err error) {
		if c, err = f(tx); err != nil || c == (Change{}) {
			return err
		}
		return note(tx, row(account.TrailDone))
	})
	// After ErrNotApplied nobody refused the act: the store could not carry it out.
	if imagegen.Definite(err) && !errors.Is(err, imagegen.ErrNotApplied) && c != (Change{}) {
		// The refused act changed nothing, so nothing has to be undone if this row cannot be written.
		_ = update(ctx, func(tx Tx) error { return note(tx, row(account.TrailRefused)) })
	}
	return err
}

// Note implements [account.TrailStore]. It overwrites r.Time and r.Actor; the actor comes from ctx.
func (t *Trail) Note(ctx context.Context, r account.TrailRow) error {
	r.Time, r.Actor = t.now(), account.ActorOf(ctx)
	return t.db.Update(ctx, func(tx kv.Tx) error { return Append(tx, r) })
}

// Later is a kv.Tx that keeps new rows beside the trail: several processes add rows at once, and one after the other
// would have to wait for the end of the trail. They get their places by Chain, in the order in which they came.
type Later interface {
	Add(account.TrailRow)
}

// Append puts a row at the end of the trail, shortened as Kept says.
func Append(tx kv.Tx, r account.TrailRow) error {
	r = Kept(r)
	if l, later := tx.(Later); later {
		l.Add(r)
		return nil
	}
	return Chain(tx, r)
}

// Chain gives a row that is as Kept says its Seq and its hash, behind the last one.
func Chain(tx kv.Tx, r account.TrailRow) error {
	last, err := readEnd(tx, newest)
	if err != nil {
		return err
	}
	r.Seq = last.Seq + 1
	encoded := kv.Encode(&r, code)
	hash := kv.Chained(last.Hash, encoded)
	tx.Put(Rows, kv.Key(r.Seq), append(encoded, hash[:]...))
	End{r.Seq, hash}.store(tx, newest)
	if Corrects(r) {
		End{r.Seq, hash}.store(tx, corrected)
	}
	return nil
}

// End is one end of the chain: the number and the hash of a row.
type End struct {
	Seq  uint64
	Hash [sha256.Size]byte
}

// Encode returns the end as it is stored.
func (e End) Encode() []byte { return kv.Encode(&e, codeEnd) }

// DecodeEnd reads a stored end.
func DecodeEnd(stored []byte) (e End, err error) {
	err = kv.Decode(stored, &e, codeEnd)
	return e, err
}

// readEnd reads an end. A trail that has none yet has the zero end, so its first row is number 1.
func readEnd(tx kv.Tx, which []byte) (e End, err error) {
	b := tx.Get(Ends, which)
	if b == nil {
		return e, nil
	}
	if err := kv.Decode(b, &e, codeEnd); err != nil {
		return e, fmt.Errorf("trail: the %s end cannot be read; run an audit: %w", which, err)
	}
	return e, nil
}

func (e End) store(tx kv.Tx, which []byte) { tx.Put(Ends, which, e.Encode()) }

func codeEnd(c *kv.Coder, e *End) {
	c.Version(1)
	kv.Number(c, &e.Seq)
	kv.Fixed(c, e.Hash[:])
}
