package bfl_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/bfl"
)

func classOf(t *testing.T, err error) *imagegen.ProviderError {
	t.Helper()
	e, ok := errors.AsType[*imagegen.ProviderError](err)
	if !ok {
		t.Fatalf("%v is no ProviderError", err)
	}
	return e
}

var page = "<!DOCTYPE html>\n<html>" + strings.Repeat("<p>Bad gateway</p>\n", 10_000)

func TestSubmissionsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		retry  string
		body   string
		class  imagegen.Class
		after  time.Duration
	}{
		"rate limited":     {429, "7", `{"detail":"Rate limit exceeded"}`, imagegen.ClassRateLimited, 7 * time.Second},
		"too many tasks":   {429, "", `{"detail":"You have 24 active tasks"}`, imagegen.ClassRateLimited, 0},
		"no credits":       {402, "", `{"detail":"Insufficient credits"}`, imagegen.ClassUnusable, 0},
		"bad key":          {403, "", `{"detail":"Not authenticated"}`, imagegen.ClassUnusable, 0},
		"retired model":    {404, "", `{"detail":"Not Found"}`, imagegen.ClassUnusable, 0},
		"bad input":        {422, "", `{"detail":[{"loc":["body","width"],"msg":"no","type":"value_error"}]}`, imagegen.ClassInvalid, 0},
		"bad gateway":      {502, "", page, imagegen.ClassUnknown, 0},
		"unavailable":      {503, "", page, imagegen.ClassUnknown, 0},
		"page instead":     {200, "", page, imagegen.ClassUnknown, 0},
		"cut short":        {200, "", `{"id":"1","polling_`, imagegen.ClassUnknown, 0},
		"no address":       {200, "", `{"id":"1"}`, imagegen.ClassUnknown, 0},
		"a redirect":       {302, "", "", imagegen.ClassUnknown, 0},
		"a strange status": {999, "", "", imagegen.ClassUnknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			var calls atomic.Int64
			p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				if c.retry != "" {
					w.Header().Set("Retry-After", c.retry)
				}
				w.Header().Set("Location", "http://192.0.2.1/")
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			}), nil)
			sizes, err := collect(t.Context(), p, request("a fox", 1))
			is.Equal(len(sizes), 0)
			e := classOf(t, err)
			is.Equal(e.Class, c.class)
			is.Equal(e.RetryAfter, c.after)
			is.True(len(err.Error()) < 600)  // an excerpt
			is.Equal(calls.Load(), int64(1)) // and no second try
		})
	}
}

func TestTasksThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		class  imagegen.Class
		says   string
	}{
		"the prompt is refused":  {200, `{"status":"Request Moderated"}`, imagegen.ClassRefused, "moderation"},
		"the picture is refused": {200, `{"status":"Content Moderated"}`, imagegen.ClassRefused, "moderation"},
		"refused with a 503":     {503, `{"id":"1","status":"Request Moderated","result":null,"details":{"Moderation Reasons":["x"]}}`, imagegen.ClassRefused, "moderation"},
		"an error with a 500":    {500, `{"id":"1","status":"Error","result":null}`, imagegen.ClassUnknown, "failed"},
		"an error":               {200, `{"status":"Error","result":null}`, imagegen.ClassUnknown, "failed"},
		"gone":                   {200, `{"status":"Task not found"}`, imagegen.ClassUnknown, "no longer knows"},
		"gone with 404":          {404, `{"status":"Task not found"}`, imagegen.ClassUnknown, "no longer knows"},
		"ready without an image": {200, `{"status":"Ready","result":{}}`, imagegen.ClassUnknown, "no image"},
		"another's address":      {200, `{"status":"Ready","result":{"sample":"ftp://192.0.2.1/x"}}`, imagegen.ClassUnknown, "could not be fetched"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			d := &double{before: func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/v1/get_result" {
					return false
				}
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
				return true
			}}
			sizes, err := collect(t.Context(), serve(t, d, nil), request("a fox", 1))
			is.Equal(len(sizes), 0)
			is.Equal(classOf(t, err).Class, c.class)
			is.True(strings.Contains(err.Error(), c.says))
			is.Equal(len(d.submitted()), 1)
		})
	}
}

// Questions may go wrong in every way: the task is paid for, and is asked about again.
func TestQuestionsThatFail(t *testing.T) {
	is := is.New(t)
	var polls atomic.Int64
	d := &double{before: func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/get_result" {
			return false
		}
		switch polls.Add(1) {
		case 1:
			answer(w, http.StatusTooManyRequests, map[string]any{"detail": "slow down"})
		case 2:
			w.WriteHeader(http.StatusBadGateway)
			io.WriteString(w, page)
		case 3:
			hangUp(w)
		case 4:
			io.WriteString(w, `{"status":"Rea`)
		default:
			return false
		}
		return true
	}}
	sizes, err := collect(t.Context(), serve(t, d, nil), request("a fox", 1))
	is.NoErr(err)
	is.Equal(len(sizes), 1)
	is.Equal(len(d.submitted()), 1)
}

func hangUp(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
}

func TestUpstreamThatHangsUp(t *testing.T) {
	is := is.New(t)
	var calls atomic.Int64
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		io.Copy(io.Discard, r.Body)
		hangUp(w)
	}), nil)
	_, err := collect(t.Context(), p, request("a fox", 1))
	is.Equal(classOf(t, err).Class, imagegen.ClassUnknown)
	is.Equal(calls.Load(), int64(1)) // and not again
}

func TestUpstreamThatIsNotThere(t *testing.T) {
	is := is.New(t)
	s := httptest.NewServer(nil)
	s.Close()
	p, err := bfl.New(bfl.Config{BaseURL: s.URL, Private: true})
	is.NoErr(err)
	_, err = collect(t.Context(), p, request("a fox", 1))
	is.Equal(classOf(t, err).Class, imagegen.ClassUnavailable) // nothing was sent
}

// The key stays with its owner, wherever the upstream says that a task is to be asked about.
func TestKeyIsNotSentToStrangers(t *testing.T) {
	is := is.New(t)
	var asked atomic.Bool
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	defer stranger.Close()
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusOK, map[string]any{"id": "1", "polling_url": stranger.URL + "/v1/get_result?id=1"})
	}), nil)
	_, err := collect(t.Context(), p, request("a fox", 1))
	is.Equal(classOf(t, err).Class, imagegen.ClassUnknown)
	is.True(!asked.Load())
}

// An image that breaks off, or is none, counts as not delivered; the others do.
func TestImagesThatAreNone(t *testing.T) {
	is := is.New(t)
	var files atomic.Int64
	d := &double{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/files/") {
			d.ServeHTTP(w, r)
			return
		}
		switch files.Add(1) {
		case 1:
			w.Header().Set("Content-Type", "image/png")
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, "\x89PNG")
			hangUp(w)
		default:
			d.ServeHTTP(w, r)
		}
	}))
	defer s.Close()
	p, err := bfl.New(bfl.Config{APIKey: key, BaseURL: s.URL + "/v1", Private: true, PollInterval: time.Millisecond})
	is.NoErr(err)
	sizes, err := collect(t.Context(), p, request("a fox", 3))
	is.NoErr(err)
	is.Equal(len(sizes), 2)
}

func TestDeadline(t *testing.T) {
	is := is.New(t)
	late := errors.New("the time is up")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, late)
	defer cancel()
	_, err := collect(ctx, serve(t, &double{}, nil), request(endless, 2))
	is.True(errors.Is(err, late))
}
