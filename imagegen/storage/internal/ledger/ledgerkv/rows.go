// Package ledgerkv keeps the rows of a ledger in an ordered key-value database.
package ledgerkv

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
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

type rows struct{ kv.Tx }

func (r rows) Account(u imagegen.UserID) ledger.Account {
	a, known := accounts.get(r.Tx, kv.Key(string(u)))
	if !known {
		a.User = u
	}
	return a
}

func (r rows) Lot(u imagegen.UserID, number uint64) (ledger.Lot, bool) {
	return lots.get(r.Tx, kv.Key(string(u), number))
}

func (r rows) Lots(u imagegen.UserID) iter.Seq[ledger.Lot] {
	return func(yield func(ledger.Lot) bool) {
		r.ascend(lots.bucket, u, nil, func(_, value []byte) bool { return yield(lots.decode(value)) })
	}
}

func (r rows) Spendable(u imagegen.UserID) iter.Seq[ledger.Lot] { return r.numbered(spendable, u) }

func (r rows) Expiring(u imagegen.UserID) iter.Seq[ledger.Lot] { return r.numbered(expiring, u) }

// numbered goes over the lots that an index names at the end of its keys.
func (r rows) numbered(index kv.Bucket, u imagegen.UserID) iter.Seq[ledger.Lot] {
	return func(yield func(ledger.Lot) bool) {
		r.ascend(index, u, nil, func(rest, _ []byte) bool {
			if len(rest) < 8 {
				panic(damaged(index, rest))
			}
			l, known := r.Lot(u, binary.BigEndian.Uint64(rest[len(rest)-8:]))
			if !known {
				panic(damaged(index, rest))
			}
			return yield(l)
		})
	}
}

// ascend goes over what begins with a user in a bucket whose keys do so, from where rest is from;
// rest is what follows in the key.
func (r rows) ascend(b kv.Bucket, u imagegen.UserID, from []byte, f func(rest, value []byte) bool) {
	prefix := kv.Key(string(u))
	r.Tx.Ascend(b, slices.Concat(prefix, from), func(key, value []byte) bool {
		rest, mine := bytes.CutPrefix(key, prefix)
		return mine && f(rest, value)
	})
}

func (r rows) Due(at time.Time) iter.Seq[imagegen.UserID] {
	return func(yield func(imagegen.UserID) bool) {
		r.Keys(due, nil, func(key []byte) bool {
			if len(key) < 9 {
				panic(damaged(due, key))
			}
			return binary.BigEndian.Uint64(key) <= kv.TimeKey(at) && yield(imagegen.UserID(key[8:len(key)-1]))
		})
	}
}

func (r rows) Charge(id imagegen.ChargeID) (ledger.Charge, bool) {
	return charges.get(r.Tx, kv.Key(string(id)))
}

func (r rows) Ref(ref string) (ledger.Place, bool) { return refs.get(r.Tx, kv.Key(ref)) }

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

func (r rows) Days(u imagegen.UserID, from time.Time) iter.Seq[imagegen.Day] {
	return func(yield func(imagegen.Day) bool) {
		r.ascend(days.bucket, u, dayKey(from), func(rest, value []byte) bool {
			if len(rest) != 8 {
				panic(damaged(days.bucket, rest))
			}
			return yield(imagegen.Day{Date: time.Unix(int64(binary.BigEndian.Uint64(rest)), 0).UTC(), Spent: days.decode(value)})
		})
	}
}

func dayKey(at time.Time) []byte { return kv.Key(uint64(ledger.DayOf(at).Unix())) }

func (r rows) Clock() clock.Mark {
	mark, err := clock.DecodeMark(r.Get(clockIs, only))
	if err != nil {
		panic(kv.Damage{Err: err})
	}
	return mark
}

func (r rows) PutClock(mark clock.Mark) { r.Put(clockIs, only, mark.Encode()) }

func (r rows) Note(row imagegen.TrailRow) error { return trail.Append(r.Tx, row) }

func (r rows) Write(c *ledger.Change) {
	e := &c.Entry
	r.Put(journal, kv.Key(string(e.User), e.Seq), e.Stored())
	accounts.put(r.Tx, kv.Key(string(e.User)), &c.From, &c.To)
	for i := range c.Lots {
		l := &c.Lots[i]
		lots.put(r.Tx, kv.Key(string(e.User), l.To.Number), &l.From, &l.To)
	}
	if c.Charge != nil {
		charges.put(r.Tx, kv.Key(string(e.Charge)), nil, c.Charge)
	}
	if e.Ref != "" {
		refs.put(r.Tx, kv.Key(e.Ref), nil, &ledger.Place{User: e.User, Seq: e.Seq})
	}
	if e.Used != 0 {
		key := append(kv.Key(string(e.User)), dayKey(e.Time)...)
		spent, _ := days.get(r.Tx, key)
		spent += e.Used
		days.put(r.Tx, key, nil, &spent)
	}
}

func (r rows) Users() iter.Seq[imagegen.UserID] {
	users := make(map[imagegen.UserID]bool)
	for _, b := range []kv.Bucket{journal, accounts.bucket, lots.bucket, days.bucket} {
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
	return named[imagegen.ChargeID](r, charges.bucket)
}

func (r rows) Refs() iter.Seq[string] { return named[string](r, refs.bucket) }

// named goes over the keys of a bucket that are one string.
func named[S ~string](r rows, b kv.Bucket) iter.Seq[S] {
	return func(yield func(S) bool) {
		r.Keys(b, nil, func(key []byte) bool { return yield(S(bytes.TrimSuffix(key, only))) })
	}
}
