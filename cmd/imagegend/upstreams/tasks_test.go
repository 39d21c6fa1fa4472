package upstreams_test

import (
	"cmp"
	"fmt"
	"net/http"
	"sync"
)

// tasks is what the stand-ins have in common: tasks are counted, and none ends before finish is
// called. What they draw has 1024×1024 pixels.
type tasks struct {
	mu        sync.Mutex
	submitted int
	polled    map[string]bool // those that were asked about
	cancelled int
	finished  bool

	images string // the address of the host that has the pictures; "": the same
}

// file is the address of a picture.
func (s *tasks) file(r *http.Request) string {
	return cmp.Or(s.images, "http://"+r.Host) + "/files/1.png"
}

// submit takes a task in and returns its id.
func (s *tasks) submit() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.submitted++
	return fmt.Sprint(s.submitted)
}

// poll reports whether a task has ended.
func (s *tasks) poll(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.polled == nil {
		s.polled = map[string]bool{}
	}
	s.polled[id] = true
	return s.finished
}

func (s *tasks) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancelled++
}

func (s *tasks) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = true
}

// unasked is how many of so many tasks are yet to be asked about.
func (s *tasks) unasked(of int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return of - len(s.polled)
}

// forgetPolls begins to count anew who is asked about.
func (s *tasks) forgetPolls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.polled)
}

// count returns how many tasks were submitted and how many cancelled.
func (s *tasks) count() (submitted, cancelled int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.submitted, s.cancelled
}
