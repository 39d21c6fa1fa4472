// Package memkv is a kv.DB in memory: the tables run over it as they do over a file.
package memkv

import (
	"context"
	"sync"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// DB is a database in memory. A transaction that writes runs alone; those that read, beside each other.
type DB struct {
	mu      sync.RWMutex
	buckets map[kv.Bucket]*bucket
}

var _ kv.DB = (*DB)(nil)

// New returns an empty database.
func New() *DB { return &DB{buckets: make(map[kv.Bucket]*bucket)} }

// View implements kv.DB. Until it returns nothing is written. f must not call the database. A
// panic of f is returned as an error.
func (db *DB) View(ctx context.Context, f func(kv.Tx) error) error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return (&tx{db: db}).run(f)
}

// Update implements kv.DB. f must not call the database, and runs once. A panic of f rolls back
// and is returned as an error.
func (db *DB) Update(ctx context.Context, f func(kv.Tx) error) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	t := &tx{db: db, writable: true}
	if err := t.run(f); err != nil {
		t.rollBack()
		return err
	}
	for _, f := range t.onCommit { // within the lock: in the order of the commits
		f()
	}
	return nil
}
