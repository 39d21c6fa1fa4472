// Package memkv is a kv.DB in memory: the tables run over it as they do over a file.
package memkv

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/tidwall/btree"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// DB keeps each bucket in a B-tree. Transactions that write run one at a time, beside none that read.
type DB struct {
	mu      sync.RWMutex
	buckets map[kv.Bucket]*bucket
}

type bucket = btree.Map[string, []byte]

var _ kv.DB = (*DB)(nil)

// New returns an empty database.
func New() *DB { return &DB{buckets: make(map[kv.Bucket]*bucket)} }

// View implements kv.DB. f must not call the database.
func (db *DB) View(ctx context.Context, f func(kv.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db.mu.RLock()
	defer db.mu.RUnlock()
	return f(&tx{db: db})
}

// Update implements kv.DB. f must not call the database. A panic of f rolls back and is returned
// as an error.
func (db *DB) Update(ctx context.Context, f func(kv.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", imagegen.ErrNotApplied, err)
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	t := &tx{db: db, before: make(map[kv.Bucket]*bucket)}
	if err := t.run(f); err != nil {
		t.rollBack()
		return err
	}
	for _, f := range t.onCommit { // within the lock: in the order of the commits
		f()
	}
	return nil
}

// tx is a transaction; before holds what the buckets that it has written were.
type tx struct {
	db       *DB
	before   map[kv.Bucket]*bucket
	onCommit []func()
}

func (t *tx) run(f func(kv.Tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("memkv: panic in a transaction: %v\n%s", p, debug.Stack())
		}
	}()
	return f(t)
}

func (t *tx) rollBack() {
	for name, b := range t.before {
		t.db.buckets[name] = b
	}
}

func (t *tx) bucket(name kv.Bucket) *bucket {
	if b := t.db.buckets[name]; b != nil {
		return b
	}
	return &bucket{}
}

// writable returns a bucket to change, of which a copy is kept; copies share what is not changed.
func (t *tx) writable(name kv.Bucket) *bucket {
	b := t.db.buckets[name]
	if b == nil {
		b = &bucket{}
		t.db.buckets[name] = b
	}
	if t.before[name] == nil {
		t.before[name] = b.Copy()
	}
	return b
}

func (t *tx) Get(name kv.Bucket, key []byte) []byte {
	v, _ := t.bucket(name).Get(string(key))
	return v
}

func (t *tx) Put(name kv.Bucket, key, value []byte) {
	t.writable(name).Set(string(key), append([]byte{}, value...))
}

func (t *tx) Delete(name kv.Bucket, key []byte) { t.writable(name).Delete(string(key)) }

func (t *tx) Ascend(name kv.Bucket, from []byte, f func(key, value []byte) bool) {
	t.bucket(name).Ascend(string(from), func(k string, v []byte) bool { return f([]byte(k), v) })
}

func (t *tx) Descend(name kv.Bucket, before []byte, f func(key, value []byte) bool) {
	each := func(k string, v []byte) bool {
		return before != nil && k >= string(before) || f([]byte(k), v)
	}
	if before == nil {
		t.bucket(name).Reverse(each)
		return
	}
	t.bucket(name).Descend(string(before), each)
}

func (t *tx) OnCommit(f func()) { t.onCommit = append(t.onCommit, f) }
