package limiter

import (
	"container/list"
	"time"
)

// table counts failures, or successes, by key. It remembers the size keys that were counted last. Counts decline
// steadily, so they are fractions. It is not safe for concurrent use.
type table[K comparable] struct {
	size     int
	most     float64       // how many are free
	forgiven time.Duration // the time after which one more is forgiven
	entries  map[K]*list.Element
	recent   *list.List // of *entry[K], the latest first
}

type entry[K comparable] struct {
	key      K
	failures float64
	at       time.Time // the time at which failures was right
}

func newTable[K comparable](size int, most float64, forgiven time.Duration) *table[K] {
	return &table[K]{size: size, most: most, forgiven: forgiven, entries: map[K]*list.Element{}, recent: list.New()}
}

func (t *table[K]) has(k K) bool { return t.entries[k] != nil }

// wait returns how long it takes until the key may fail once more; 0: it may now.
func (t *table[K]) wait(k K, now time.Time) time.Duration {
	e, ok := t.entries[k]
	if !ok {
		return 0
	}
	over := t.left(e.Value.(*entry[K]), now) + 1 - t.most
	return max(0, time.Duration(over*float64(t.forgiven)))
}

// left is how many of an entry's failures are not forgiven at now.
func (t *table[K]) left(e *entry[K], now time.Time) float64 {
	passed := max(0, now.Sub(e.at)) // the clock may have been set back
	return max(0, e.failures-float64(passed)/float64(t.forgiven))
}

// add adds n failures, or takes some back if n is negative; there are never fewer than none.
func (t *table[K]) add(k K, n float64, now time.Time) {
	e := t.entry(k)
	e.failures, e.at = max(0, t.left(e, now)+n), now
}

// clear makes the table remember the key, without failures.
func (t *table[K]) clear(k K, now time.Time) {
	e := t.entry(k)
	e.failures, e.at = 0, now
}

// entry finds or makes the entry of a key. If there are too many then, it forgets the one that was counted longest ago.
func (t *table[K]) entry(k K) *entry[K] {
	if e, ok := t.entries[k]; ok {
		t.recent.MoveToFront(e)
		return e.Value.(*entry[K])
	}
	e := &entry[K]{key: k}
	t.entries[k] = t.recent.PushFront(e)
	if t.recent.Len() > t.size {
		oldest := t.recent.Remove(t.recent.Back()).(*entry[K])
		delete(t.entries, oldest.key)
	}
	return e
}
