package daemon

import (
	"net/http"
	"sync"
	"time"
)

// readsAfter is how long a drain goes on serving reads after the last synchronous answer: whoever got
// it fetches the images that it names.
const readsAfter = 5 * time.Second

// answers knows of the calls that a drain finds under way, and when one was answered last.
type answers struct {
	mu      sync.Mutex
	closed  bool // calls that begin count no more: none of them is given work
	pending int
	last    time.Time
	none    chan struct{} // closed when closed and none is pending
}

func newAnswers() *answers { return &answers{none: make(chan struct{})} }

// watch tells the calls that next answers at once.
func (a *answers) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || !a.begin() {
			next.ServeHTTP(w, r)
			return
		}
		told := &told{ResponseWriter: w}
		defer func() { a.end(told.status) }()
		next.ServeHTTP(told, r)
	})
}

func (a *answers) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.pending++
	return true
}

// end notes when a call was answered with work, or with its failure.
func (a *answers) end(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if status == http.StatusOK || status == http.StatusInternalServerError {
		a.last = time.Now()
	}
	a.pending--
	a.settle()
}

// close begins a drain.
func (a *answers) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.settle()
}

func (a *answers) settle() {
	if !a.closed || a.pending > 0 {
		return
	}
	select {
	case <-a.none:
	default:
		close(a.none)
	}
}

// remains waits until the answers to all calls that the drain found have left, but not longer than
// limit, and tells for how long reads are to be served still.
func (a *answers) remains(limit time.Duration) time.Duration {
	select {
	case <-a.none:
	case <-time.After(limit):
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(0, readsAfter-time.Since(a.last)) // of nothing if there was none
}

// told is an answer whose status is known.
type told struct {
	http.ResponseWriter
	status int
}

// Unwrap serves http.ResponseController.
func (t *told) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (t *told) WriteHeader(status int) {
	t.status = status
	t.ResponseWriter.WriteHeader(status)
}
