package waiting

import (
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// Caller identifies whose waiting calls are counted together: those of one API key, or of one user without a key.
type Caller struct {
	User imagegen.UserID
	Key  imagegen.KeyID
}

// limit counts the calls of each caller that wait.
type limit struct {
	most  int
	mu    sync.Mutex // guards calls
	calls map[Caller]int
}

func newLimit(most int) *limit { return &limit{most: most, calls: make(map[Caller]int)} }

// enter counts a call until leave is called. ok is false if too many of the caller's calls wait already.
func (l *limit) enter(c Caller) (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls[c] >= l.most {
		return nil, false
	}
	l.calls[c]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.calls[c]--; l.calls[c] == 0 {
			delete(l.calls, c)
		}
	}, true
}
