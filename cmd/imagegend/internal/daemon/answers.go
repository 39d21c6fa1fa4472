package daemon

import (
	"net/http"
	"sync"
	"time"

	"github.com/imagegend/imagegend/internal/accesslog"
)

// readsAfter is how long a drain goes on serving reads after the last synchronous answer: its receiver still has to
// fetch the images that it names.
const readsAfter = 5 * time.Second

// answers counts the calls under way, so that a drain can wait until their answers are sent, and knows when the last
// answer was sent. It is safe for concurrent use; mu guards the fields above none.
type answers struct {
	mu      sync.Mutex
	closed  bool          // a drain has begun: later calls get no work and are not counted
	pending int           // calls that were counted and have no answer yet
	last    time.Time     // when the last answer with work was sent; zero: there was none
	none    chan struct{} // closed once the drain has begun and no call is pending
}

func newAnswers() *answers { return &answers{none: make(chan struct{})} }

// watch counts the requests that can be given work, which are the POSTs. Reads are not counted: a drain serves them
// anyway.
func (a *answers) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || !a.countCall() {
			next.ServeHTTP(w, r)
			return
		}
		// The deferred call also counts an answer that ends with a panic, as a hang-up can.
		noted := &accesslog.Writer{ResponseWriter: w}
		defer func() { a.answered(noted.Status) }()
		next.ServeHTTP(noted, r)
	})
}

// countCall counts a call, unless a drain has begun.
func (a *answers) countCall() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.pending++
	return true
}

// answered takes a call out of the count. 200 is an answer with work, and 500 is how work that failed is answered; only
// after these is there anything to read.
func (a *answers) answered(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if status == http.StatusOK || status == http.StatusInternalServerError {
		a.last = time.Now()
	}
	a.pending--
	a.settle()
}

// close marks the beginning of a drain. It may be called more than once.
func (a *answers) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.settle()
}

// settle closes none when it is time, once. The caller holds mu.
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

// remains waits until all calls that the drain found are answered, but no longer than limit. It returns for how long
// reads should still be served: 0 if no call was answered recently.
func (a *answers) remains(limit time.Duration) time.Duration {
	select {
	case <-a.none:
	case <-time.After(limit):
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(0, readsAfter-time.Since(a.last)) // 0 if last is the zero time
}
