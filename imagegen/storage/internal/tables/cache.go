package tables

import (
	"sync"
	"time"
)

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

func (m *cache[K, V]) look(k K) (v V, ok bool, asOf uint64) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	c, ok := m.rows[k]
	if ok && m.age > 0 && time.Since(c.read) >= m.age {
		return v, false, m.changes
	}
	return c.row, ok, m.changes
}

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

func (m *cache[K, V]) forget(k K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes++
	delete(m.rows, k)
}
