package ledger

import (
	"context"
	"slices"
	"sync"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Memory is a Store in memory. A transaction that writes runs alone; those that read, beside each other.
type Memory struct {
	mu   sync.RWMutex
	rows *memory
	note func(account.TrailRow) error
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store. note puts a row at the end of an audit trail, as the last thing that
// a transaction does.
func NewMemory(note func(account.TrailRow) error) *Memory {
	return &Memory{rows: newMemory(), note: note}
}

// View implements Store. f must not call the store.
func (m *Memory) View(ctx context.Context, f func(Tx) error) error {
	return m.Look(ctx, func(r Rows) error { return f(r) })
}

// Look is View of all rows.
func (m *Memory) Look(ctx context.Context, f func(Rows) error) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return f(&memoryTx{memory: m.rows})
}

// Update implements Store. f must not call the store, and runs once: if it fails, what it wrote is taken
// back.
func (m *Memory) Update(ctx context.Context, f func(Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	t := &memoryTx{memory: m.rows, note: m.note}
	done := false
	defer func() {
		if !done { // also where f panics
			t.rollBack()
		}
	}()
	if err := f(t); err != nil {
		return err
	}
	done = true
	for _, f := range t.onCommit { // within the lock: in the order of the commits
		f()
	}
	return nil
}

// memoryTx is a transaction over the rows, which it changes in place.
type memoryTx struct {
	*memory
	note     func(account.TrailRow) error
	undo     []func()
	onCommit []func()
}

// rollBack undoes the writes of a failed transaction, last one first.
func (t *memoryTx) rollBack() {
	for _, undo := range slices.Backward(t.undo) {
		undo()
	}
}

// Write implements Tx.
func (t *memoryTx) Write(c *Change) {
	u, id := c.Entry.User, c.Entry.Charge
	page, charge := t.pages[u], t.charges[id]
	t.undo = append(t.undo, func() {
		restore(t.pages, u, page)
		restore(t.charges, id, charge)
		delete(t.refs, c.Entry.Ref)
	})
	t.pages[u] = t.page(u).clone()
	t.memory.Write(c)
}

// restore gives a key the value that it had, or none if that is what it had.
func restore[K, V comparable](m map[K]V, key K, former V) {
	var none V
	if former == none {
		delete(m, key)
	} else {
		m[key] = former
	}
}

// PutClock implements Tx.
func (t *memoryTx) PutClock(mark clock.Mark) {
	former := t.clock
	t.undo = append(t.undo, func() { t.clock = former })
	t.clock = mark
}

// Note implements Tx.
func (t *memoryTx) Note(r account.TrailRow) error { return t.note(r) }

// OnCommit implements Tx.
func (t *memoryTx) OnCommit(f func()) { t.onCommit = append(t.onCommit, f) }
