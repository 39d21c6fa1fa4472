// Package share divides a scarce resource among those who ask for it, so that nobody holds all of it.
// Nobody waits: a request that cannot be met is refused.
package share

import "sync"

// Shares counts what each of many holds. It is safe for concurrent use, and its memory does not grow
// with those who hold nothing.
type Shares[K comparable] struct {
	each, all int64 // the most that one, and that all together, may hold

	mu    sync.Mutex // guards what follows
	held  map[K]int64
	total int64
}

// New returns shares of which one can hold at most each, and all together at most all.
func New[K comparable](each, all int64) *Shares[K] {
	return &Shares[K]{each: each, all: all, held: make(map[K]int64)}
}

// Take takes n more for k. It returns false, and takes nothing, if that exceeds k's share or what is
// left. The caller gives back with Give what it has taken.
func (s *Shares[K]) Take(k K, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[k]+n > s.each || s.total+n > s.all {
		return false
	}
	s.held[k] += n
	s.total += n
	return true
}

// Give gives back n of what k holds, which must be at least n.
func (s *Shares[K]) Give(k K, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total -= n
	if s.held[k] -= n; s.held[k] == 0 {
		delete(s.held, k)
	}
}
