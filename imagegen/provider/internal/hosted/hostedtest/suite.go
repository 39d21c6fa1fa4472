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

// Suite says how to test a hosted provider whose model takes a size to the pixel.
type Suite struct {
	// Double returns a new stand-in.
	Double func() *Double

	// New makes a provider that uses the upstream at an address and polls with an interval.
	New func(address string, interval time.Duration) (imagegen.Provider, error)

	// Pending is the body of the answer about a task that is not done.
	Pending string

	// Last reports whether a request is the one whose answer names the images, or says why there are none.
	Last func(r *http.Request) bool

	// Submissions are answers to a submission that fails, or whose outcome is unknown, by the name of their test.
	Submissions map[string]Failure

	// Ends are answers to the request that Last describes, by the name of their test.
	Ends map[string]Failure

	// CannotCancel says that the upstream has no way to cancel a task.
	CannotCancel bool

	// Used and Refused are what the stand-in says of the use of a task that makes one image, and of one with the prompt
	// Forbidden.
	Used, Refused imagegen.UpstreamUsage
}

// Failure is an answer and the error that the provider makes of it.
type Failure struct {
	Status int
	Body   string // in Ends, HOST stands for the upstream's host
	Class  imagegen.Class
	Says   string        // of Ends: a part of the error's text
	Retry  string        // of Submissions: the header Retry-After
	After  time.Duration // of Submissions: the error's RetryAfter
}

// Run runs the suite, and that of package providertest.
func (s Suite) Run(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New: func(t *testing.T) imagegen.Provider { return s.serve(t, s.Double()) }, Answering: s.serve,
		Endless: Endless, SavesJobs: true, Sample: true, Usual: true})
	for name, test := range map[string]func(*testing.T){
		"submissions that fail":           s.submissions,
		"tasks that fail":                 s.ends,
		"questions that fail":             s.questions,
		"answers that say nothing":        s.sayNothing,
		"an image that breaks off":        s.breaksOff,
		"resumed after a restart":         s.resumed,
		"cancelled at the deadline":       s.deadline,
		"a key that the upstream repeats": s.key,
		"what was used":                   s.used,
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

// A submission is made once, however it ends.
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

// A task is polled again after every failure of a poll, since it is paid for.
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
		case 2, 6: // of an upstream whose images are at an address of their own, 6 asks there
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

// If the upstream no longer says how a task stands, the call ends before its time runs out.
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

// An image that breaks off does not cost the others.
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
	ctx, restart := context.WithCancelCause(t.Context())
	var asked atomic.Int64
	d := s.Double()
	d.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || ctx.Err() != nil {
			return false
		}
		io.WriteString(w, s.Pending)
		if asked.Add(1) == 5 {
			restart(imagegen.ErrStopping)
		}
		return true
	}
	server := httptest.NewServer(d)
	defer server.Close()
	r := providertest.Request("a fox", 2)
	r.SaveJob = func(_ context.Context, job []byte) error { r.Job = job; return nil }

	first, err := s.New(server.URL, 5*time.Millisecond)
	is.NoErr(err)
	used := providertest.Used(&r)
	sizes, err := providertest.Collect(ctx, first, r)
	is.Equal(len(sizes), 0)
	is.True(errors.Is(err, imagegen.ErrStopping))
	is.Equal(used(), imagegen.UpstreamUsage{}) // the next attempt will say it
	is.Equal(len(d.Sent()), 2)
	is.Equal(len(d.Cancelled()), 0) // the next attempt continues them

	second, err := s.New(server.URL, 5*time.Millisecond)
	is.NoErr(err)
	sizes, err = providertest.Collect(t.Context(), second, r)
	is.NoErr(err)
	is.Equal(len(sizes), 2)
	is.Equal(len(d.Sent()), 2) // and no more
	is.Equal(used(), s.Used.Plus(s.Used))
}

// What the upstream says of a task's use is known before its image comes, and also if there is none.
func (s Suite) used(t *testing.T) {
	is := is.New(t)
	p := s.serve(t, s.Double())
	r := providertest.Request("a fox", 1)
	used := providertest.Used(&r)
	for _, err := range p.Generate(t.Context(), r) {
		is.NoErr(err)
		is.Equal(used(), s.Used)
		break
	}
	is.Equal(used(), s.Used)

	r = providertest.Request(Forbidden, 1)
	used = providertest.Used(&r)
	_, err := providertest.Collect(t.Context(), p, r)
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassRefused)
	is.Equal(used(), s.Refused)
}

// A task is cancelled at the deadline, since no other attempt will ask for it.
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

// Probe reports that the key was refused, without repeating the key.
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
