package hostedtest

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// Suite says how to test a hosted provider, whose model takes a size to the pixel.
type Suite struct {
	// Double is a new stand-in.
	Double func() *Double

	// New makes a provider of an upstream at that address.
	New func(address string, interval time.Duration) (imagegen.Provider, error)

	// Pending is the answer to the question about a task that is not done.
	Pending string

	// Last reports whether a request is the question whose answer has the images, or tells why there are none.
	Last func(r *http.Request) bool

	// Submissions are answers to a submission that start nothing, or of which nobody knows.
	Submissions map[string]Failure

	// Ends are answers to the last question.
	Ends map[string]Failure

	// CannotCancel says that the upstream has no way to.
	CannotCancel bool
}

// Failure is an answer, in which HOST is the upstream's, and what it means.
type Failure struct {
	Status int
	Body   string
	Class  imagegen.Class
	Says   string        // part of the error
	Retry  string        // the header
	After  time.Duration // which the error then says
}

// Run runs the suite, and that for providers.
func (s Suite) Run(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New: func(t *testing.T) imagegen.Provider { return s.serve(t, s.Double()) }, Endless: Endless, SavesJobs: true, Sample: true, Usual: true})
	for name, test := range map[string]func(*testing.T){
		"submissions that fail":           s.submissions,
		"tasks that fail":                 s.ends,
		"questions that fail":             s.questions,
		"answers that say nothing":        s.sayNothing,
		"an upstream that hangs up":       s.hangsUp,
		"an upstream that is not there":   s.notThere,
		"an image that breaks off":        s.breaksOff,
		"resumed after a restart":         s.resumed,
		"cancelled at the deadline":       s.deadline,
		"a key that the upstream repeats": s.key,
	} {
		t.Run(name, test)
	}
}

func (s Suite) serve(t *testing.T, h http.Handler) imagegen.Provider {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	p, err := s.New(server.URL, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A submission is made once, whatever comes of it.
func (s Suite) submissions(t *testing.T) {
	all := make(map[string]Failure)
	maps.Copy(all, s.Submissions)
	maps.Copy(all, map[string]Failure{
		"bad gateway":      {Status: 502, Body: Page},
		"unavailable":      {Status: 503, Body: Page},
		"page instead":     {Status: 200, Body: Page},
		"a redirect":       {Status: 302},
		"a strange status": {Status: 999},
	})
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			var calls atomic.Int64
			p := s.serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				if c.Retry != "" {
					w.Header().Set("Retry-After", c.Retry)
				}
				w.Header().Set("Location", "http://192.0.2.1/")
				w.WriteHeader(c.Status)
				io.WriteString(w, c.Body)
			}))
			sizes, err := providertest.Collect(t.Context(), p, providertest.Request("a fox", 1))
			is.Equal(len(sizes), 0)
			e := providertest.Error(t, err)
			is.Equal(e.Class, c.Class)
			is.Equal(e.RetryAfter, c.After)
			is.True(len(err.Error()) < 600)  // an excerpt
			is.Equal(calls.Load(), int64(1)) // and no second try
		})
	}
}

func (s Suite) ends(t *testing.T) {
	for name, c := range s.Ends {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			d := s.Double()
			d.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet || !s.Last(r) {
					return false
				}
				w.WriteHeader(c.Status)
				io.WriteString(w, strings.ReplaceAll(c.Body, "HOST", r.Host))
				return true
			}
			sizes, err := providertest.Collect(t.Context(), s.serve(t, d), providertest.Request("a fox", 1))
			is.Equal(len(sizes), 0)
			is.Equal(providertest.Error(t, err).Class, c.Class)
			is.True(strings.Contains(err.Error(), c.Says))
			is.Equal(len(d.Sent()), 1)
		})
	}
}

// Questions may go wrong in every way: the task is paid for, and is asked about again.
func (s Suite) questions(t *testing.T) {
	is := is.New(t)
	var asked atomic.Int64
	d := s.Double()
	d.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		switch asked.Add(1) {
		case 1:
			d.Refuse(w, http.StatusTooManyRequests, "slow down")
		case 2, 6: // where a response is asked for, that
			w.WriteHeader(http.StatusBadGateway)
			io.WriteString(w, Page)
		case 3, 8:
			io.WriteString(w, `{"status":"CO`)
		case 4:
			HangUp(w)
		default:
			return false
		}
		return true
	}
	sizes, err := providertest.Collect(t.Context(), s.serve(t, d), providertest.Request("a fox", 1))
	is.NoErr(err)
	is.Equal(len(sizes), 1)
	is.Equal(len(d.Sent()), 1)
}

// An upstream that no longer says how a task stands is not asked until time runs out.
func (s Suite) sayNothing(t *testing.T) {
	is := is.New(t)
	d := s.Double()
	d.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			io.WriteString(w, "{}")
		}
		return r.Method == http.MethodGet
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := providertest.Collect(ctx, s.serve(t, d), providertest.Request("a fox", 1))
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassUnknown)
}

func (s Suite) hangsUp(t *testing.T) {
	is := is.New(t)
	var calls atomic.Int64
	p := s.serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		io.Copy(io.Discard, r.Body)
		HangUp(w)
	}))
	_, err := providertest.Collect(t.Context(), p, providertest.Request("a fox", 1))
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassUnknown)
	is.Equal(calls.Load(), int64(1)) // and not again
}

func (s Suite) notThere(t *testing.T) {
	is := is.New(t)
	gone := httptest.NewServer(nil)
	gone.Close()
	p, err := s.New(gone.URL, time.Millisecond)
	is.NoErr(err)
	_, err = providertest.Collect(t.Context(), p, providertest.Request("a fox", 1))
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassUnavailable) // nothing was sent
}

// One that breaks off costs nothing of the others.
func (s Suite) breaksOff(t *testing.T) {
	is := is.New(t)
	var files atomic.Int64
	d := s.Double()
	p := s.serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/files/") || files.Add(1) > 1 {
			d.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "\x89PNG")
		HangUp(w)
	}))
	sizes, err := providertest.Collect(t.Context(), p, providertest.Request("a fox", 3))
	is.NoErr(err)
	is.Equal(len(sizes), 2)
}

// A restart in the middle of the work continues it: the upstream is paid once for each image.
func (s Suite) resumed(t *testing.T) {
	is := is.New(t)
	ctx, restart := context.WithCancel(t.Context())
	var asked atomic.Int64
	d := s.Double()
	d.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || ctx.Err() != nil {
			return false
		}
		io.WriteString(w, s.Pending)
		if asked.Add(1) == 5 {
			restart()
		}
		return true
	}
	server := httptest.NewServer(d)
	defer server.Close()
	r := providertest.Request("a fox", 2)
	r.SaveJob = func(_ context.Context, job []byte) error { r.Job = job; return nil }

	first, err := s.New(server.URL, 5*time.Millisecond)
	is.NoErr(err)
	sizes, err := providertest.Collect(ctx, first, r)
	is.Equal(len(sizes), 0)
	is.True(errors.Is(err, context.Canceled))
	is.Equal(len(d.Sent()), 2)
	is.Equal(len(d.Cancelled()), 0) // somebody comes back

	second, err := s.New(server.URL, 5*time.Millisecond)
	is.NoErr(err)
	sizes, err = providertest.Collect(t.Context(), second, r)
	is.NoErr(err)
	is.Equal(len(sizes), 2)
	is.Equal(len(d.Sent()), 2) // and no more
}

// Nobody comes back for a task whose time is up.
func (s Suite) deadline(t *testing.T) {
	is := is.New(t)
	d, late := s.Double(), errors.New("the time is up")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, late)
	defer cancel()
	_, err := providertest.Collect(ctx, s.serve(t, d), providertest.Request(Endless, 2))
	is.True(errors.Is(err, late))
	is.Equal(len(d.Sent()), 2)
	if !s.CannotCancel {
		is.Equal(len(d.Cancelled()), 2)
	}
}

// Probe refuses a wrong key, and does not tell it.
func (s Suite) key(t *testing.T) {
	is := is.New(t)
	is.NoErr(s.serve(t, s.Double()).(provider.Prober).Probe(t.Context()))
	d := s.Double()
	right := d.Key
	d.Key = "another"
	err := s.serve(t, d).(provider.Prober).Probe(t.Context())
	is.True(err != nil && strings.Contains(err.Error(), "the upstream refused the API key"))
	is.True(!strings.Contains(err.Error(), right))
}
