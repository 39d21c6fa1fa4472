package fal_test

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
	"github.com/imagegend/imagegend/imagegen/provider/fal"
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

// What the model has no input for is refused, not dropped: once a runner looks at it.
func TestInputOfAnotherModel(t *testing.T) {
	is := is.New(t)
	p := serve(t, &double{}, func(c *fal.Config) {
		c.MaxReferences, c.Input = 0, map[string]any{"prompt": "{{prompt}}", "size": "{{size}}"}
	})
	sizes, err := collect(t.Context(), p, request("a fox", 1))
	is.Equal(len(sizes), 0)
	is.True(strings.Contains(classOf(t, err).Err.Error(), "extra_forbidden"))
}

func TestSubmissionsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		retry  string
		body   string
		class  imagegen.Class
		after  time.Duration
	}{
		"rate limited": {429, "30", `{"detail":"Too many requests"}`, imagegen.ClassRateLimited, 30 * time.Second},
		"no balance":   {403, "", `{"detail":"User is locked. Reason: Exhausted balance."}`, imagegen.ClassUnusable, 0},
		"bad key":      {401, "", `{"detail":"Authentication is required"}`, imagegen.ClassUnusable, 0},
		"no model":     {404, "", `{"detail":"Application not found"}`, imagegen.ClassUnusable, 0},
		"bad input":    {422, "", `{"detail":[{"loc":["body","seed"],"msg":"no","type":"int_parsing"}]}`, imagegen.ClassInvalid, 0},
		"malformed":    {400, "", `{"detail":"bad header","error_type":"bad_request"}`, imagegen.ClassInvalid, 0},
		"bad gateway":  {502, "", page, imagegen.ClassUnknown, 0},
		"page instead": {200, "", page, imagegen.ClassUnknown, 0},
		"cut short":    {200, "", `{"request_id":"1","status_`, imagegen.ClassUnknown, 0},
		"no addresses": {200, "", `{"request_id":"1","status":"IN_QUEUE"}`, imagegen.ClassUnknown, 0},
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

// ends has every request end with this response.
func ends(status int, body string) *double {
	return &double{before: func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || strings.HasSuffix(r.URL.Path, "/status") {
			return false
		}
		w.WriteHeader(status)
		io.WriteString(w, strings.ReplaceAll(body, "HOST", r.Host))
		return true
	}}
}

func TestRequestsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		class  imagegen.Class
		says   string
	}{
		"refused":          {422, `{"detail":[{"loc":["body"],"msg":"no","type":"content_policy_violation"}]}`, imagegen.ClassRefused, "moderation"},
		"refused, among":   {422, `{"detail":[{"type":"value_error"},{"type":"content_policy_violation"}]}`, imagegen.ClassRefused, "moderation"},
		"bad input":        {422, `{"detail":[{"loc":["body","seed"],"msg":"no","type":"int_parsing"}]}`, imagegen.ClassInvalid, "int_parsing"},
		"no runner":        {503, `{"detail":"none","error_type":"runner_scheduling_failure"}`, imagegen.ClassUnavailable, "no runner"},
		"took too long":    {504, `{"detail":"Request timed out","error_type":"request_timeout"}`, imagegen.ClassUnknown, "request_timeout"},
		"key withdrawn":    {403, `{"detail":"no","error_type":"forbidden"}`, imagegen.ClassUnknown, "forbidden"}, // the request was taken in
		"cancelled":        {499, `{"detail":"cancelled","error_type":"client_cancelled"}`, imagegen.ClassUnknown, "client_cancelled"},
		"the model broke":  {500, `{"detail":[{"type":"internal_server_error","msg":"oops"}]}`, imagegen.ClassUnknown, "internal_server_error"},
		"kept no longer":   {404, `{"detail":"Request not found"}`, imagegen.ClassUnknown, "no longer knows"},
		"no image":         {200, `{"images":[],"seed":1}`, imagegen.ClassUnknown, "no image"},
		"a video":          {200, `{"video":{"url":"https://example.com/v.mp4"}}`, imagegen.ClassUnknown, "no image"},
		"a blackened one":  {200, `{"images":[{"url":"http://HOST/files/64x64"}],"has_nsfw_concepts":[true]}`, imagegen.ClassRefused, "blackened"},
		"an image of none": {200, `{"image":{"url":"http://HOST/nothing"}}`, imagegen.ClassUnknown, "could not be fetched"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			d := ends(c.status, c.body)
			sizes, err := collect(t.Context(), serve(t, d, nil), request("a fox", 1))
			is.Equal(len(sizes), 0)
			is.Equal(classOf(t, err).Class, c.class)
			is.True(strings.Contains(err.Error(), c.says))
			is.Equal(len(d.submitted()), 1)
		})
	}
}

func TestOneImageInsteadOfAList(t *testing.T) {
	is := is.New(t)
	sizes, err := collect(t.Context(), serve(t, ends(200, `{"image":{"url":"http://HOST/files/64x64"}}`), nil), request("a fox", 1))
	is.NoErr(err)
	is.Equal(len(sizes), 1)
}

// What the safety checker blackened is not delivered; the rest is.
func TestPartOfTheImages(t *testing.T) {
	is := is.New(t)
	d := ends(200, `{"images":[{"url":"http://HOST/files/64x64"},{"url":"http://HOST/files/65x65"},{"url":"http://HOST/files/66x66"}],
		"has_nsfw_concepts":[false,true,false]}`)
	sizes, err := collect(t.Context(), serve(t, d, func(c *fal.Config) { c.MaxPerCall = 3 }), request("a fox", 3))
	is.Equal(sizes, []imagegen.Size{{Width: 64, Height: 64}, {Width: 66, Height: 66}})
	is.Equal(classOf(t, err).Class, imagegen.ClassRefused)
}

// Questions may go wrong in every way: the request is paid for, and is asked about again.
func TestQuestionsThatFail(t *testing.T) {
	is := is.New(t)
	var polls atomic.Int64
	d := &double{before: func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		switch polls.Add(1) {
		case 1:
			answer(w, http.StatusTooManyRequests, map[string]any{"detail": "Too many requests"})
		case 2:
			w.WriteHeader(http.StatusBadGateway)
			io.WriteString(w, page)
		case 3:
			hangUp(w)
		case 5: // the fourth says COMPLETED, this is the response
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, page)
		case 9:
			answer(w, http.StatusTooManyRequests, map[string]any{"detail": "slow down", "error_type": "rate_limit"})
		case 7: // and again
			io.WriteString(w, `{"images":[{"ur`)
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
	p, err := fal.New(fox(s.URL))
	is.NoErr(err)
	_, err = collect(t.Context(), p, request("a fox", 1))
	is.Equal(classOf(t, err).Class, imagegen.ClassUnavailable) // nothing was sent
}
