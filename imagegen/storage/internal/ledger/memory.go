package ledger

import (
	"context"
	"slices"
	"sync"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Memory is a Store in memory. A transaction that writes runs alone; those that read run beside each other. Package
// memory keeps its own maps under the same lock: it reads and changes them within these transactions.
type Memory struct {
	mu   sync.RWMutex // guards rows, and what users of the store keep beside them
	rows *memory
	note func(account.TrailRow) error
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store. note puts a row at the end of an audit trail. It is called last in a transaction,
// since what it does is not undone.
func NewMemory(note func(account.TrailRow) error) *Memory {
	return &Memory{rows: newMemory(), note: note}
}

// View implements Store. f must not call the store: it holds the lock.
func (m *Memory) View(ctx context.Context, f func(Tx) error) error {
	return m.Look(ctx, func(r Rows) error { return f(r) })
}

// Look is View with access to all rows, for an audit.
func (m *Memory) Look(ctx context.Context, f func(Rows) error) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return f(&memoryTx{memory: m.rows})
}

// Update implements Store. f must not call the store. It runs once, and if it fails or panics, what it wrote is
// undone. ctx counts only until f begins.
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

// memoryTx is a transaction over the rows, which it changes in place. It keeps what is needed to undo that.
type memoryTx struct {
	*memory
	note     func(account.TrailRow) error // nil in a transaction that only reads
	undo     []func()                     // in the order of the writes
	onCommit []func()
}

// rollBack undoes the writes of a failed transaction, last one first.
func (t *memoryTx) rollBack() {
	for _, undo := range slices.Backward(t.undo) {
		undo()
	}
}

// Write implements Tx. The user's page is copied before it changes; an undo puts the former page back.
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

// restore gives a key back its former value; the zero value means that it had none.
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
