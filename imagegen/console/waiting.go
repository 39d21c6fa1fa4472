package console

import (
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// waitTime is how long a value waits for a browser to come back.
	waitTime = 10 * time.Minute
	// maxWaiting is how many values of a kind wait at most. One more drops the oldest: anybody can begin a sign-in,
	// so memory must have a bound.
	maxWaiting = 10_000
)

// waiting holds values for which a browser comes back, once, with a token that only it has. They are in the memory of
// one process: after a restart, or at another node, the user has to begin again. The zero value is ready for use. It
// is safe for concurrent use.
type waiting[V any] struct {
	mu    sync.Mutex
	items map[[32]byte]item[V] // by the hash of the token
	order [][32]byte           // oldest first; it may name values that were taken
}

// item is a value and when it was put.
type item[V any] struct {
	value V
	since time.Time
}

// put keeps v and returns the token with which to take it. It first drops values that have waited too long, or are
// too many. A value that was taken has the zero time in items, so it counts as one that has waited too long.
func (w *waiting[V]) put(v V, now time.Time) (token string) {
	// Only the hash is kept, so that nothing in memory is as good as the token.
	token, hash := newToken()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.items == nil {
		w.items = map[[32]byte]item[V]{}
	}
	for len(w.order) > 0 && (len(w.order) >= maxWaiting || now.Sub(w.items[w.order[0]].since) >= waitTime) {
		delete(w.items, w.order[0])
		w.order = w.order[1:]
	}
	w.items[hash] = item[V]{v, now}
	w.order = append(w.order, hash)
	return token
}

// take returns and removes the value of a token. ok is false if there is none: it was taken, has waited for waitTime,
// or was dropped. Of concurrent calls with the same token one succeeds.
func (w *waiting[V]) take(token string, now time.Time) (v V, ok bool) {
	hash := sha256.Sum256([]byte(token))
	w.mu.Lock()
	defer w.mu.Unlock()
	i, ok := w.items[hash]
	delete(w.items, hash)
	if !ok || now.Sub(i.since) >= waitTime {
		return v, false
	}
	return i.value, true
}
