// Package share divides what there is little of among those who ask for it, so that nobody holds all.
package share

import "sync"

// Shares counts what each of many holds. It is safe for concurrent use, and remembers nobody who holds
// nothing.
type Shares[K comparable] struct {
	each, all int64

	mu    sync.Mutex
	held  map[K]int64
	total int64
}

// New returns shares of which nobody can hold more than each, and all together no more than all.
func New[K comparable](each, all int64) *Shares[K] {
	return &Shares[K]{each: each, all: all, held: make(map[K]int64)}
}

// Take takes n more for k, or nothing: false if that is more than k's share, or than is left. What was
// taken is given back by Give.
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

// Give gives back n of what k holds.
func (s *Shares[K]) Give(k K, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total -= n
	if s.held[k] -= n; s.held[k] == 0 {
		delete(s.held, k)
	}
}
