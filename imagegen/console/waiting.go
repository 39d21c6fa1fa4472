package console

import (
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// waitTime is how long something waits for a browser to come back with it.
	waitTime = 10 * time.Minute
	// maxWaiting is how many things of a kind wait at most; the oldest goes first.
	maxWaiting = 10_000
)

// waiting holds what a browser comes back for, once, by a token that only it has. It lies in memory: after a
// restart one begins anew.
type waiting[V any] struct {
	mu    sync.Mutex
	items map[[32]byte]item[V]
	order [][32]byte // as they came, those that were taken included
}

type item[V any] struct {
	value V
	since time.Time
}

// put returns the token by which v is taken.
func (w *waiting[V]) put(v V, now time.Time) (token string) {
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

// take returns what waits for a token, the first time.
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
