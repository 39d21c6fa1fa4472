// Package kvtest has a kv.DB in memory, for tests of packages that need one.
package kvtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// DB is a database in memory. A transaction that writes runs alone; those that read run beside each other. A panic
// of a transaction is returned as an error.
type DB struct {
	mu      sync.RWMutex
	buckets map[kv.Bucket][]pair // each sorted by key
}

type pair struct{ key, value []byte }

var _ kv.DB = (*DB)(nil)

// New returns an empty database.
func New() *DB { return &DB{buckets: make(map[kv.Bucket][]pair)} }

// View implements kv.DB. f must not call the database.
func (db *DB) View(ctx context.Context, f func(kv.Tx) error) error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return run(f, &tx{db: db})
}

// Update implements kv.DB. f must not call the database, and runs once. If it fails, its writes are undone.
func (db *DB) Update(ctx context.Context, f func(kv.Tx) error) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	t := &tx{db: db, writable: true}
	if err := run(f, t); err != nil {
		for _, undo := range slices.Backward(t.undo) {
			undo()
		}
		return err
	}
	for _, f := range t.onCommit { // within the lock: in the order of the commits
		f()
	}
	return nil
}

// run calls f and turns a panic into an error: a kv.Damage as it is, any other with its stack.
func run(f func(kv.Tx) error, t *tx) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case kv.Damage:
			err = p
		default:
			err = fmt.Errorf("kvtest: panic in a transaction: %v\n%s", p, debug.Stack())
		}
	}()
	return f(t)
}

// tx is a transaction. It writes in place, and undo takes that back.
type tx struct {
	db       *DB
	writable bool
	undo     []func()
	onCommit []func()
}

var errReadOnly = errors.New("kvtest: a write in a View")

// find returns where a key is in its bucket, or where it would be inserted.
func (t *tx) find(b kv.Bucket, key []byte) (i int, found bool) {
	return slices.BinarySearchFunc(t.db.buckets[b], key, func(p pair, key []byte) int {
		return bytes.Compare(p.key, key)
	})
}

func (t *tx) Get(b kv.Bucket, key []byte) []byte {
	if i, found := t.find(b, key); found {
		return t.db.buckets[b][i].value
	}
	return nil
}

// Put implements kv.Tx. It copies key and value, since callers may reuse them.
func (t *tx) Put(b kv.Bucket, key, value []byte) {
	key = bytes.Clone(key)
	former := t.Get(b, key)
	t.undo = append(t.undo, func() { t.set(b, key, former) })
	t.set(b, key, bytes.Clone(value))
}

func (t *tx) Delete(b kv.Bucket, key []byte) {
	if t.Get(b, key) != nil {
		t.Put(b, key, nil)
	}
}

// set gives a key a value; nil removes the key.
func (t *tx) set(b kv.Bucket, key, value []byte) {
	if !t.writable {
		panic(errReadOnly)
	}
	in := t.db.buckets[b]
	i, found := t.find(b, key)
	switch {
	case found && value != nil:
		in[i].value = value
	case found:
		t.db.buckets[b] = slices.Delete(in, i, i+1)
	case value != nil:
		t.db.buckets[b] = slices.Insert(in, i, pair{key, value})
	}
}

func (t *tx) Ascend(b kv.Bucket, from []byte, f func(key, value []byte) bool) {
	i, _ := t.find(b, from)
	for _, p := range t.db.buckets[b][i:] {
		if !f(p.key, p.value) {
			return
		}
	}
}

// Keys implements kv.Tx. Nothing is ever damaged here, so it is Ascend without the values.
func (t *tx) Keys(b kv.Bucket, from []byte, f func(key []byte) bool) {
	t.Ascend(b, from, func(key, _ []byte) bool { return f(key) })
}

func (t *tx) Descend(b kv.Bucket, before []byte, f func(key, value []byte) bool) {
	i := len(t.db.buckets[b])
	if before != nil {
		i, _ = t.find(b, before)
	}
	for _, p := range slices.Backward(t.db.buckets[b][:i]) {
		if !f(p.key, p.value) {
			return
		}
	}
}

func (t *tx) OnCommit(f func()) { t.onCommit = append(t.onCommit, f) }
