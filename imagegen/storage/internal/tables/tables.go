// Package tables keeps generations, users, keys, passwords, sign-ins, passkeys, identities, invitations and marks
// in an ordered key-value database, as declarations over package table.
//
// Each kind of value has a file with its declaration and its methods; form.go has all encodings. What a generation
// needs besides its record, the queue and the leases, is kept in memory: work.go has it as a whole, waiting.go the
// order of the queue, and pick.go the choice of a claim. The rules of what may be written are not here: package
// rules and imagegen.Record.Apply decide that, and every method calls them inside its transaction.
//
// A method whose comment says only which interface it implements adds nothing to that interface's contract.
package tables

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/feed"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Tables implements [imagegen.TxStore] over a key-value database and the ledger in it.
//
// A database belongs to one Tables at a time: the queue and the leases are kept in memory.
type Tables struct {
	db    kv.DB
	books *ledger.Ledger // in the same database; it also judges the time
	work  *work          // the queue and the leases

	// OnDamage is called for each generation that was found damaged and put aside, from the goroutine that met
	// it, possibly within a commit: it must be quick and must not call Tables. May be nil. Set it before Load.
	OnDamage func(error)

	keys  cache[[32]byte, imagegen.Key] // by hash
	users cache[imagegen.UserID, imagegen.User]

	feeds atomic.Bool // events are written
}

var _ imagegen.TxStore = (*Tables)(nil)

// New returns the tables of a database. Unless it is empty, call Load next, once. The time is that of
// the books, whose transactions must be transactions of db too.
func New(db kv.DB, books *ledger.Ledger) *Tables {
	books.Granted = func(tx ledger.Tx, u imagegen.UserID) error { return rules.Granted(accounts{tx.(kv.Tx)}, u) }
	t := &Tables{db: db, books: books, work: newWork()}
	books.Wrote = t.tellEntry
	return t
}

// booksOf returns the rows of the ledger in a transaction. Where they have tables of their own, the transaction is one
// over these too.
func booksOf(tx kv.Tx) ledger.Tx {
	if own, ok := tx.(ledger.Tx); ok {
		return own
	}
	return ledgerkv.Rows(tx)
}

// Load builds the queue and the leases from the records that a former process left. All leases count as
// ended. No record waits for longer than its delay, since the time until which it waits may have been written by
// a clock that was ahead. Load reads only open generations, so its cost does not grow with the past.
func (t *Tables) Load(ctx context.Context) error {
	at := t.books.Read()
	return t.db.View(ctx, func(tx kv.Tx) error {
		t.NoteFeed(tx.Get(marksOf, feedKept) != nil)
		damaged, err := EachOpen(tx, func(r row) error {
			t.work.found(r, at)
			return nil
		})
		for _, why := range damaged {
			t.tell(why)
		}
		return err
	})
}

// writeRow runs f in a transaction. The clock is read once, before it, since f may run more than once and
// must decide the same each time. With an error it may return a record: the one that stands in the way.
func (t *Tables) writeRow(ctx context.Context, f func(changes) (row, error)) (imagegen.Record, error) {
	var r row
	at := t.books.Read()
	err := t.db.Update(ctx, func(tx kv.Tx) (err error) {
		r, err = f(changes{accounts{tx}, t, at})
		return err
	})
	return r.Record, err
}

// act is trail.Act in this database: a change with its row in the audit trail.
func (t *Tables) act(ctx context.Context, act account.Act, f func(kv.Tx) (trail.Change, error)) error {
	at := t.books.Now()
	return trail.Act(ctx, at, act, t.db.Update, trail.Append, func(tx kv.Tx) (trail.Change, error) {
		c, err := f(tx)
		if e, some := feed.OfAct(act, c, at); err == nil && some && t.feeds.Load() {
			happened(tx, e)
		}
		return c, err
	})
}

// create adds a value that is unique by its key and by an index. The same value again changes nothing.
func create[V any](tx kv.Tx, in *table.Index[V], v *V, c trail.Change) (trail.Change, error) {
	added, err := in.PutNew(tx, v)
	if err == nil && !added {
		return trail.Change{}, nil
	}
	return c, err
}

// view returns what f reads in a snapshot.
func view[T any](ctx context.Context, db kv.DB, f func(tx kv.Tx) (T, error)) (v T, err error) {
	err = db.View(ctx, func(tx kv.Tx) (err error) {
		v, err = f(tx)
		return err
	})
	return v, err
}

// KeepFor limits how long users and keys are cached, for a database that other processes change too. Call
// it before any other method.
func (t *Tables) KeepFor(age time.Duration) { t.keys.age, t.users.age = age, age }

// cache keeps rows in memory that every request reads and hardly any request changes. A row is dropped
// when a change of it is durable, before the caller of that change is answered. A row that was read while
// anything changed is not kept, since it may be the former one. So nobody reads a row from the cache that is
// older than a change that a caller has the answer of. It is safe for concurrent use.
//
// Without it, each request takes two reads more: a poll of a generation on disk takes 1.15 times as long
// (BenchmarkUsersAndKeys), and on PostgreSQL each read is a round trip.
type cache[K comparable, V any] struct {
	mu      sync.RWMutex // guards rows and changes
	rows    map[K]cached[V]
	changes uint64        // how often a row was dropped
	age     time.Duration // after which a row is read anew; below 0: each time; 0: never, since nobody else changes it
}

// cached is a row in a cache.
type cached[V any] struct {
	row  V
	read time.Time // when its reading began
}

// maxCached bounds the memory, to a few MB. When it is reached the cache is emptied.
const maxCached = 10_000

// get returns a row from the cache, or else reads it with load. Errors are not cached, nor that there is no row.
func (m *cache[K, V]) get(k K, load func() (V, error)) (V, error) {
	v, ok, asOf := m.lookUp(k)
	if ok {
		return v, nil
	}
	read := time.Now() // before load: the row may be as old as this
	v, err := load()
	if err == nil {
		m.keep(k, cached[V]{v, read}, asOf)
	}
	return v, err
}

// lookUp returns a cached row. asOf is for keep, which compares it to see whether a row has changed since.
func (m *cache[K, V]) lookUp(k K) (v V, ok bool, asOf uint64) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c, ok := m.rows[k]
	if ok && m.age != 0 && time.Since(c.read) >= m.age {
		return v, false, m.changes
	}
	return c.row, ok, m.changes
}

// keep caches a row that was read after look returned asOf, unless any row has changed since.
func (m *cache[K, V]) keep(k K, v cached[V], asOf uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changes != asOf {
		return
	}
	if m.rows == nil || len(m.rows) >= maxCached {
		m.rows = make(map[K]cached[V])
	}
	m.rows[k] = v
}

// forget drops a row, and makes every keep that began before it fail.
func (m *cache[K, V]) forget(k K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes++
	delete(m.rows, k)
}
