package limiter

import (
	"container/list"
	"time"
)

// table counts failures by key, of the size keys that were counted last.
type table[K comparable] struct {
	size     int
	most     float64       // failures that are free
	forgiven time.Duration // after which one more is
	entries  map[K]*list.Element
	recent   *list.List // of *entry[K], the latest first
}

type entry[K comparable] struct {
	key      K
	failures float64
	at       time.Time // when failures was worked out
}

func newTable[K comparable](size int, most float64, forgiven time.Duration) *table[K] {
	return &table[K]{size: size, most: most, forgiven: forgiven, entries: map[K]*list.Element{}, recent: list.New()}
}

func (t *table[K]) has(k K) bool { return t.entries[k] != nil }

// wait tells how long until the key may fail once more.
func (t *table[K]) wait(k K, now time.Time) time.Duration {
	e, ok := t.entries[k]
	if !ok {
		return 0
	}
	over := t.left(e.Value.(*entry[K]), now) + 1 - t.most
	return max(0, time.Duration(over*float64(t.forgiven)))
}

// left is how many of an entry's failures are not forgiven yet.
func (t *table[K]) left(e *entry[K], now time.Time) float64 {
	passed := max(0, now.Sub(e.at)) // the clock may have been set back
	return max(0, e.failures-float64(passed)/float64(t.forgiven))
}

// add counts n failures more; fewer, if it is negative.
func (t *table[K]) add(k K, n float64, now time.Time) {
	e := t.entry(k)
	e.failures, e.at = max(0, t.left(e, now)+n), now
}

// clear knows the key from now on, without a failure.
func (t *table[K]) clear(k K, now time.Time) {
	e := t.entry(k)
	e.failures, e.at = 0, now
}

// entry finds or makes an entry and forgets the one that was counted longest ago, if there are too
// many.
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
