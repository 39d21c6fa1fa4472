// Package ledgerkv keeps the rows of a ledger in an ordered key-value database. tables.go declares the buckets and
// their indexes, rows.go and usage.go implement ledger.Rows over them, and check.go adds to an audit what only
// such a database needs. It decides nothing: the rules are in package ledger.
//
// The journal, the charges and the references are plain buckets. Accounts, lots and usage are tables with indexes,
// which make a balance one read, a charge a few, and a sum over a day independent of all other days.
package ledgerkv

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// New returns the ledger in a database. wall is the wall clock, which the ledger judges.
func New(db kv.DB, wall func() time.Time) (*ledger.Ledger, error) { return ledger.New(Store{db}, wall) }

// Store is a ledger.Store in a database.
type Store struct{ DB kv.DB }

// View implements ledger.Store.
func (s Store) View(ctx context.Context, f func(ledger.Tx) error) error {
	return s.DB.View(ctx, func(tx kv.Tx) error { return f(Rows(tx)) })
}

// Update implements ledger.Store.
func (s Store) Update(ctx context.Context, f func(ledger.Tx) error) error {
	return s.DB.Update(ctx, func(tx kv.Tx) error { return f(Rows(tx)) })
}

// Rows returns the ledger's rows in a transaction.
func Rows(tx kv.Tx) ledger.Rows { return rows{tx} }

// rows implements ledger.Rows in one transaction. A row that cannot be read, or that an index names and that does
// not exist, makes it panic with a kv.Damage, as the contracts of ledger.Tx and kv.Tx say.
type rows struct{ kv.Tx }

func (r rows) Account(u imagegen.UserID) ledger.Account {
	a, known := get(r.Tx, accountsIn, kv.Key(string(u)), accountForm)
	if !known {
		a.User = u
	}
	return a
}

func (r rows) Lot(u imagegen.UserID, number uint64) (ledger.Lot, bool) {
	return get(r.Tx, lotsIn, kv.Key(string(u), number), lotForm)
}

// Lots implements ledger.Tx. The numbers in the keys give the order.
func (r rows) Lots(u imagegen.UserID) iter.Seq[ledger.Lot] {
	return func(yield func(ledger.Lot) bool) {
		r.ascend(lotsIn, u, nil, func(_, value []byte) bool { return yield(decoded(lotsIn, value, lotForm)) })
	}
}

func (r rows) Spendable(u imagegen.UserID) iter.Seq[ledger.Lot] { return r.indexed(spendable, u) }

func (r rows) Expiring(u imagegen.UserID) iter.Seq[ledger.Lot] { return r.indexed(expiring, u) }

// indexed goes over a user's lots in the order of an index, reading each lot when it comes.
func (r rows) indexed(i *table.Index[ledger.Lot], u imagegen.UserID) iter.Seq[ledger.Lot] {
	return func(yield func(ledger.Lot) bool) {
		for key := range i.Keys(r.Tx, kv.Key(string(u))) {
			l, known := get(r.Tx, lotsIn, key, lotForm)
			if !known {
				panic(damaged(lotsIn, key))
			}
			if !yield(l) {
				return
			}
		}
	}
}

// damaged is what to panic with where an index names a row that does not exist.
func damaged(b kv.Bucket, key []byte) kv.Damage {
	return kv.Damage{Err: fmt.Errorf("ledger: %s has no %q as it should; run an audit", b, key)}
}

// ascend goes over the rows of one user in a bucket whose keys begin with the user. It begins with the key that
// continues as from; rest is how the key of each row continues.
func (r rows) ascend(b kv.Bucket, u imagegen.UserID, from []byte, f func(rest, value []byte) bool) {
	prefix := kv.Key(string(u))
	r.Tx.Ascend(b, slices.Concat(prefix, from), func(key, value []byte) bool {
		rest, mine := bytes.CutPrefix(key, prefix)
		return mine && f(rest, value)
	})
}

// Due implements ledger.Tx, by the index of what expires first in each account.
func (r rows) Due(at time.Time) iter.Seq[imagegen.UserID] {
	return func(yield func(imagegen.UserID) bool) {
		for e := range due.Entries(r.Tx, nil) {
			if bytes.Compare(e.Under, kv.Key(kv.TimeKey(at))) > 0 ||
				!yield(imagegen.UserID(bytes.TrimSuffix(e.Key, only))) {
				return
			}
		}
	}
}

func (r rows) Charge(id imagegen.ChargeID) (ledger.Charge, bool) {
	return get(r.Tx, chargesIn, kv.Key(string(id)), chargeForm)
}

func (r rows) Ref(ref string) (ledger.Place, bool) { return get(r.Tx, refsIn, kv.Key(ref), placeForm) }

// Entry implements ledger.Tx. The entry's Encoded is part of the transaction's bytes, and valid only as long.
func (r rows) Entry(p ledger.Place) (e ledger.Entry, known bool) {
	key := kv.Key(string(p.User), p.Seq)
	stored := r.Get(journal, key)
	if stored == nil {
		return e, false
	}
	e, err := ledger.DecodeEntry(stored)
	if err != nil {
		panic(kv.Damage{Err: err})
	}
	return e, true
}

func (r rows) Clock() clock.Mark {
	mark, err := clock.DecodeMark(r.Get(clockIs, only))
	if err != nil {
		panic(kv.Damage{Err: err})
	}
	return mark
}

func (r rows) PutClock(mark clock.Mark) { r.Put(clockIs, only, mark.Encode()) }

func (r rows) Note(row account.TrailRow) error { return trail.Append(r.Tx, row) }

// Write implements ledger.Tx. An entry is stored as it was encoded when it was made, so that its hash stays right;
// all other rows are encoded here.
func (r rows) Write(c *ledger.Change) {
	e := &c.Entry
	r.Put(journal, kv.Key(string(e.User), e.Seq), e.Stored())
	accounts.Put(r.Tx, &c.From, &c.To)
	for i := range c.Lots {
		l := &c.Lots[i]
		lots.Put(r.Tx, &l.From, &l.To)
	}
	if c.Charge != nil {
		r.Put(chargesIn, kv.Key(string(e.Charge)), kv.Encode(c.Charge, chargeForm))
	}
	if e.Ref != "" {
		r.Put(refsIn, kv.Key(e.Ref), kv.Encode(&ledger.Place{User: e.User, Seq: e.Seq}, placeForm))
	}
	for _, u := range c.Usage {
		usage.Put(r.Tx, &u.From, &u.To)
	}
	for _, k := range c.Keys {
		totals.Put(r.Tx, &k.From, &k.To)
	}
}

// Users implements ledger.Rows. It skips from one user's keys to the next user's, in each bucket whose keys begin
// with a user: so rows without an account, or without a journal, are found too.
func (r rows) Users() iter.Seq[imagegen.UserID] {
	users := make(map[imagegen.UserID]bool)
	for _, b := range []kv.Bucket{journal, accountsIn, lotsIn, usageIn, keysIn} {
		for from, more := []byte(nil), true; more; {
			more = false
			r.Keys(b, from, func(key []byte) bool {
				user, _, _ := bytes.Cut(key, []byte{0})
				users[imagegen.UserID(user)] = true
				from, more = append(slices.Clone(user), 1), true // behind all of this user's
				return false
			})
		}
	}
	return slices.Values(slices.Sorted(maps.Keys(users)))
}

// Journal implements ledger.Rows. An entry in the place of another is an error as well; the next one may be sound.
func (r rows) Journal(u imagegen.UserID) iter.Seq2[ledger.Entry, error] {
	return func(yield func(ledger.Entry, error) bool) {
		r.ascend(journal, u, nil, func(rest, value []byte) bool {
			e, err := ledger.DecodeEntry(value)
			if err == nil && !bytes.Equal(rest, kv.Key(e.Seq)) {
				err = fmt.Errorf("ledger: entry %d lies in the place of another", e.Seq)
			}
			return yield(e, err)
		})
	}
}

func (r rows) Charges() iter.Seq[imagegen.ChargeID] {
	return namesIn[imagegen.ChargeID](r, chargesIn)
}

func (r rows) Refs() iter.Seq[string] { return namesIn[string](r, refsIn) }

// namesIn goes over the keys of a bucket whose keys are one string each. It reads no values, so damaged ones come too.
func namesIn[S ~string](r rows, b kv.Bucket) iter.Seq[S] {
	return func(yield func(S) bool) {
		r.Keys(b, nil, func(key []byte) bool { return yield(S(bytes.TrimSuffix(key, only))) })
	}
}
