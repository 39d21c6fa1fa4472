// Package tables keeps generations, users, keys, passwords, sign-ins and invitations in an ordered
// key-value database, as declarations over package table.
package tables

import (
	"context"
	"sync"
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

// cache keeps rows in memory that each request reads and hardly any changes. A row is forgotten
// when a change of it is durable, before anybody is told; one that was read meanwhile is not kept.
type cache[K comparable, V any] struct {
	mu      sync.RWMutex
	rows    map[K]cached[V]
	changes uint64
	age     time.Duration // after which a row is read anew; 0: never, nobody else changes it
}

type cached[V any] struct {
	row  V
	read time.Time
}

// maxCached bounds the memory, to a few MB; beyond it all are read anew.
const maxCached = 10_000

// get returns a row: as it is kept, else as load reads it.
func (m *cache[K, V]) get(k K, load func() (V, error)) (V, error) {
	v, ok, asOf := m.look(k)
	if ok {
		return v, nil
	}
	read := time.Now()
	v, err := load()
	if err == nil {
		m.keep(k, cached[V]{v, read}, asOf)
	}
	return v, err
}

// look returns a cached row. asOf is for keep: it tells whether a row was changed since.
func (m *cache[K, V]) look(k K) (v V, ok bool, asOf uint64) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c, ok := m.rows[k]
	if ok && m.age > 0 && time.Since(c.read) >= m.age {
		return v, false, m.changes
	}
	return c.row, ok, m.changes
}

// keep caches a row that was read as of a revision, unless something has changed since.
// When the cache is full it starts anew.
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
