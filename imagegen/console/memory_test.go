package console_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
)

// stalled is a request that stalls, with its form or with its answer, until the test lets go.
type stalled struct {
	*httptest.ResponseRecorder
	form    io.Reader
	sent    int        // of the form
	waiting chan<- int // gets once how many bytes have come, or wait to be sent
	done    <-chan struct{}
	waits   bool
}

func (s *stalled) wait(bytes int) {
	if !s.waits {
		s.waits = true
		s.waiting <- bytes
	}
	<-s.done
}

func (s *stalled) Write(b []byte) (int, error) {
	s.wait(len(b))
	return len(b), nil
}

func (s *stalled) Read(b []byte) (int, error) {
	n, err := s.form.Read(b)
	if s.sent += n; err != nil {
		s.wait(s.sent)
	}
	return n, err
}

// Somebody who sends many forms that do not end, or takes no page, signed in or not, holds no more than a share, and
// keeps nobody else out. It is given back.
func TestFormsAndPagesHaveAShare(t *testing.T) {
	const requests, share = 100, 8 << 20
	s := open(t)
	alice, stranger, bob := s.signedIn("alice"), s.visitor(), s.signedIn("bob")
	other := s.visitor()
	other.address = "198.51.100.1:1"
	contentType, whole := formOf(nil, "prompt", strings.Repeat(`"`, 120_000), "show", "cost")
	form := func(from *visitor, w *stalled) *http.Request {
		w.form = bytes.NewReader(whole[:len(whole)-10])
		return from.request(http.MethodPost, "playground", w, "Content-Type", contentType)
	}
	answer := func(from *visitor, _ *stalled) *http.Request {
		return from.request(http.MethodPost, "playground", bytes.NewReader(whole), "Content-Type", contentType)
	}
	alice.grant(1)
	made := alice.finish(strings.Repeat(`"`, imagegen.MaxPromptRunes), 1, imagegen.StatusSucceeded)
	page := func(from *visitor, _ *stalled) *http.Request {
		return from.request(http.MethodGet, "playground?again="+string(made.ID), nil)
	}
	for name, from := range map[string]*visitor{"signed in": alice, "not signed in": stranger} {
		for kind, ask := range map[string]func(*visitor, *stalled) *http.Request{"forms": form, "answers": answer,
			"pages": page} {
			t.Run(name+", "+kind, func(t *testing.T) {
				s.is = s.is.New(t)
				waiting, done := make(chan int), make(chan struct{})
				var all sync.WaitGroup
				for range requests {
					w := &stalled{ResponseRecorder: httptest.NewRecorder(), waiting: waiting, done: done}
					r := ask(from, w)
					all.Go(func() {
						if s.ServeHTTP(w, r); !w.waits {
							waiting <- 0
						}
					})
				}
				held := 0
				for range requests {
					held += <-waiting
				}
				s.is.True(held <= share)
				s.is.Equal(bob.get("playground").StatusCode, http.StatusOK)
				s.is.Equal(other.get("signin").StatusCode, http.StatusOK)
				close(done)
				all.Wait()
				s.is.True(from.postFiles("playground", nil, "prompt", "a fox", "show", "cost").has(`name="prompt"`))
			})
		}
	}
}

// The largest pages are within a share.
func TestLargestPages(t *testing.T) {
	s := open(t)
	alice := s.signedIn("alice")
	for range 24 {
		alice.grant(1)
		alice.finish(strings.Repeat(`"`, imagegen.MaxPromptRunes), 1, imagegen.StatusSucceeded)
	}
	for _, path := range []string{"generations", "playground", "credits", "overview"} {
		s.is.True(alice.get(path).StatusCode != http.StatusServiceUnavailable)
	}
	s.is.Equal(alice.get("generations").StatusCode, http.StatusOK)
}
