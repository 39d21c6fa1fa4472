package replicate_test

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
	"github.com/imagegend/imagegend/imagegen/provider/replicate"
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

// What the model has no input for is refused, not dropped.
func TestInputOfAnotherModel(t *testing.T) {
	is := is.New(t)
	d := &double{}
	_, err := collect(t.Context(), serve(t, d, func(c *replicate.Config) { c.Input["steps"] = 28 }), request("a fox", 1))
	is.Equal(classOf(t, err).Class, imagegen.ClassInvalid)
	is.Equal(len(d.created()), 0)
}

func TestCreationsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		retry  string
		body   string
		class  imagegen.Class
		after  time.Duration
	}{
		"rate limited": {429, "30", `{"detail":"Request was throttled. Your rate limit resets in ~30s."}`, imagegen.ClassRateLimited, 30 * time.Second},
		"slow down":    {429, "", `{"detail":"Request was throttled.","status":429,"retry_after":9}`, imagegen.ClassRateLimited, 9 * time.Second},
		"no credit":    {402, "", `{"title":"Insufficient credit","detail":"Go to billing"}`, imagegen.ClassUnusable, 0},
		"bad key":      {401, "", `{"title":"Unauthenticated"}`, imagegen.ClassUnusable, 0},
		"no model":     {404, "", `{"detail":"The requested resource could not be found.","status":404}`, imagegen.ClassUnusable, 0},
		"bad input":    {422, "", `{"title":"Input validation failed","invalid_fields":[]}`, imagegen.ClassInvalid, 0},
		"bad gateway":  {502, "", page, imagegen.ClassUnknown, 0},
		"page instead": {201, "", page, imagegen.ClassUnknown, 0},
		"cut short":    {201, "", `{"id":"1","urls":{`, imagegen.ClassUnknown, 0},
		"no address":   {201, "", `{"id":"1","status":"starting"}`, imagegen.ClassUnknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			var calls atomic.Int64
			p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				if c.retry != "" {
					w.Header().Set("Retry-After", c.retry)
				}
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

func TestPredictionsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		class  imagegen.Class
		says   string
	}{
		"sensitive":        {200, `{"status":"failed","error":"The input or output was flagged as sensitive. (E005)"}`, imagegen.ClassRefused, "moderation"},
		"not safe":         {200, `{"status":"failed","error":"NSFW content detected. Try a different prompt."}`, imagegen.ClassRefused, "moderation"},
		"out of memory":    {200, `{"status":"failed","error":"CUDA out of memory"}`, imagegen.ClassUnknown, "out of memory"},
		"no reason":        {200, `{"status":"failed","error":null}`, imagegen.ClassUnknown, "failed"},
		"cancelled":        {200, `{"status":"canceled"}`, imagegen.ClassUnknown, "cancelled"},
		"never begun":      {200, `{"status":"aborted"}`, imagegen.ClassUnavailable, "before"},
		"an empty list":    {200, `{"status":"succeeded","output":[]}`, imagegen.ClassUnknown, "no image"},
		"nothing":          {200, `{"status":"succeeded","output":null}`, imagegen.ClassUnknown, "no image"},
		"something else":   {200, `{"status":"succeeded","output":{"seed":7}}`, imagegen.ClassUnknown, "no image"},
		"removed":          {404, `{"detail":"The requested resource does not exist"}`, imagegen.ClassUnknown, "no longer knows"},
		"the key is stale": {401, `{"title":"Unauthenticated"}`, imagegen.ClassUnknown, "out of reach"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			d := &double{before: func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet {
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
			is.Equal(len(d.created()), 1)
		})
	}
}

// What is refused costs nothing of the rest.
func TestPartOfTheImages(t *testing.T) {
	is := is.New(t)
	d := &double{}
	d.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/predictions/1" {
			return false
		}
		answer(w, http.StatusOK, map[string]any{"status": "failed", "error": "flagged as sensitive"})
		return true
	}
	sizes, err := collect(t.Context(), serve(t, d, nil), request("a fox", 3))
	is.Equal(len(sizes), 2)
	is.Equal(classOf(t, err).Class, imagegen.ClassRefused)
}

// Questions may go wrong in every way: the prediction is paid for, and is asked about again.
func TestQuestionsThatFail(t *testing.T) {
	is := is.New(t)
	var polls atomic.Int64
	d := &double{before: func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		switch polls.Add(1) {
		case 1:
			problem(w, http.StatusTooManyRequests, "", "Request was throttled.")
		case 2:
			w.WriteHeader(http.StatusBadGateway)
			io.WriteString(w, page)
		case 3:
			hangUp(w)
		case 4:
			io.WriteString(w, `{"status":"succ`)
		default:
			return false
		}
		return true
	}}
	sizes, err := collect(t.Context(), serve(t, d, nil), request("a fox", 1))
	is.NoErr(err)
	is.Equal(len(sizes), 1)
	is.Equal(len(d.created()), 1)
}

// An upstream that no longer says how a task stands is not asked until time runs out.
func TestAnswersWithoutStatus(t *testing.T) {
	is := is.New(t)
	d := &double{before: func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		io.WriteString(w, "{}")
		return true
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := collect(ctx, serve(t, d, nil), request("a fox", 1))
	is.Equal(classOf(t, err).Class, imagegen.ClassUnknown)
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
	p, err := replicate.New(fox(s.URL))
	is.NoErr(err)
	_, err = collect(t.Context(), p, request("a fox", 1))
	is.Equal(classOf(t, err).Class, imagegen.ClassUnavailable) // nothing was sent
}
