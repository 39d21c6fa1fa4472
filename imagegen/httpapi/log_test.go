package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// journal is a log that tests can read while it is written.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// lines returns the records with what does not change from run to run.
func (j *journal) lines(t *testing.T) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(j.String()) {
		var m map[string]any
		is.New(t).NoErr(json.Unmarshal([]byte(line), &m))
		delete(m, "time")
		if took, ok := m["duration_ms"]; ok {
			is.New(t).True(took.(float64) > 0 && took.(float64) < 1e6) // in milliseconds
		}
		delete(m, "duration_ms")
		lines = append(lines, m)
	}
	return lines
}

func TestAccessLog(t *testing.T) {
	var log journal
	s := serve(t, httpapi.Options{Log: log.logger()})
	s.is.Equal(s.do("GET", "/api/v1/credits?secret=1", "", "X-Request-Id", "r1").StatusCode, 200)
	s.is.Equal(s.do("GET", "/images/secret", "", "X-Request-Id", "r2").StatusCode, 404)
	s.is.Equal(s.do("GET", "/images/secret/", "", "X-Request-Id", "r3").StatusCode, 404)
	s.is.Equal(s.do("GET", "/healthz", "", "X-Request-Id", "r4").StatusCode, 200)
	s.is.Equal(s.post(fox(`,"n":0`), "X-Request-Id", "r5").StatusCode, 400)
	s.server.Close() // waits for the handlers
	alices, err := s.Engine.Accounts().Keys(t.Context(), imagegentest.Alice)
	s.is.NoErr(err)
	request := func(id string, m map[string]any) map[string]any {
		m["msg"], m["request_id"], m["address"] = "request", id, "127.0.0.1"
		return m
	}
	want := []map[string]any{
		request("r1", map[string]any{"level": "INFO", "method": "GET", "route": "/api/v1/credits", "status": 200.0,
			"bytes": 92.0, "key_id": string(alices[0].ID), "user_id": "alice"}),
		request("r2", map[string]any{"level": "INFO", "method": "GET", "route": "/images/:id", "status": 404.0,
			"bytes": 79.0, "error": "notFound: the requested resource was not found"}),
		request("r3", map[string]any{"level": "INFO", "method": "GET", "route": "", "status": 404.0, "bytes": 79.0,
			"error": "notFound: the requested resource was not found"}),
		request("r4", map[string]any{"level": "DEBUG", "method": "GET", "route": "/healthz", "status": 200.0,
			"bytes": 16.0}),
		request("r5", map[string]any{"level": "INFO", "method": "POST", "route": "/api/v1/images/generations",
			"status": 400.0, "bytes": 78.0, "key_id": string(alices[0].ID), "user_id": "alice",
			"error": "invalid_request: n must be from 1 to 4; got 0"}),
	}
	s.is.Equal(cmp.Diff(want, log.lines(t)), "")
}

// The line of a request leads to what it was about, also of one that failed; and to where it came from, by
// those who are trusted to know.
func TestAccessLogOfGenerations(t *testing.T) {
	var log journal
	s := serve(t, httpapi.Options{Log: log.logger(),
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	g := s.accepted(s.post(fox("")), http.StatusOK)
	s.do("GET", "/api/v1/generations/"+g.ID, "", "X-Forwarded-For", "198.51.100.7, 203.0.113.9")
	s.do("GET", s.path(g.Images[0].URL), "")
	failed := s.post(`{"model":"fake-1","prompt":"[fake:fail]"}`)
	s.do("GET", "/api/v1/generations/gen_00000000000000000000000000", "") // nobody's
	s.server.Close()
	var about, from []any
	for _, line := range log.lines(t) {
		if line["msg"] == "request" {
			about, from = append(about, line["generation_id"]), append(from, line["address"])
		}
	}
	s.is.Equal(cmp.Diff([]any{g.ID, g.ID, g.ID, path.Base(failed.Header.Get("Location")), nil}, about), "")
	s.is.Equal(cmp.Diff([]any{"127.0.0.1", "203.0.113.9", "127.0.0.1", "127.0.0.1", "127.0.0.1"}, from), "")
}

// A caller who hangs up does not count as a failure of the service.
func TestLogOfCallerGone(t *testing.T) {
	var log journal
	held := hold()
	s := serve(t, httpapi.Options{Log: log.logger()}, withProvider(held))
	defer close(held.release)
	ctx, hangUp := context.WithCancel(t.Context())
	go func() {
		<-held.called
		hangUp()
	}()
	_, err := transport.RoundTrip(s.request(http.MethodPost, generations, strings.NewReader(fox(""))).WithContext(ctx))
	s.is.True(err != nil)
	s.until(func() bool { return log.String() != "" })
	line := log.lines(t)[0]
	s.is.Equal(line["level"], "INFO")
	s.is.Equal(line["status"], 499.0)
}

// Neither keys nor prompts nor capabilities come into the log.
func TestLogKeepsSecrets(t *testing.T) {
	var log journal
	s := serve(t, httpapi.Options{Log: log.logger()}, func(c *engine.Config) { c.Log = log.logger() })
	g := s.accepted(s.post(`{"model":"fake-1","prompt":"canary fox","size":"64x48"}`, "Idempotency-Key", "canary-key"),
		200)
	s.do("GET", s.path(g.Images[0].URL), "")
	s.do("GET", s.path(g.Images[0].URL)+"/", "")
	s.do("GET", "/api/v1/credits", "", "Authorization", "Bearer canary-token")
	s.do("GET", "/api/v1/credits?canary=1", "", "Cookie", "canary")
	s.post(`{"model":"fake-1","prompt":"[fake:fail] canary fox"}`)
	s.post(`{"model":"fake-1","prompt":"[fake:panic] canary fox"}`)
	s.post(`{"model":"fake-1","prompt":"canary` + "\x01" + `"}`)
	s.post(`{"model":"fake-1","prompt":["canary"]}`)
	s.postForm(foxForm(part{name: "prompt", value: "canary"})...)
	s.server.Close()
	s.is.True(strings.Count(log.String(), `"msg":"request"`) == 10)
	for _, secret := range []string{"canary", s.key, g.Images[0].ID} {
		if at := strings.Index(log.String(), secret); at >= 0 {
			t.Errorf("the log holds %q: …%s", secret, log.String()[max(0, at-200):])
		}
	}
}

// A handler beside that of the API has identifiers of the same kind, in its answers and in its log.
func TestWithRequestID(t *testing.T) {
	is := is.New(t)
	var log journal
	l := slog.New(httpapi.NewLogHandler(log.logger().Handler()))
	h := httpapi.WithRequestID(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.InfoContext(r.Context(), "beside")
	}))
	for sent, want := range map[string]bool{"mine": true, "a b": false} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
		r.Header.Set("X-Request-Id", sent)
		h.ServeHTTP(w, r)
		got := w.Header().Get("X-Request-Id")
		is.True(got != "")
		is.Equal(got == sent, want)
		is.True(strings.Contains(log.String(), `"request_id":"`+got+`"`))
	}
}

// The identifier goes with the work, also with what goes on after the answer.
func TestRequestIDInTheEngine(t *testing.T) {
	ids := make(chan string, 8)
	s := serve(t, httpapi.Options{}, func(c *engine.Config) {
		c.Observer = imagegen.ObserverFunc(func(ctx context.Context, e imagegen.Event) {
			ids <- string(e.Kind) + " " + httpapi.RequestID(ctx)
		})
	})
	s.accepted(s.post(fox(""), "X-Request-Id", "mine"), http.StatusOK)
	s.is.Equal(<-ids, "accepted mine")
	s.is.Equal(<-ids, "settled mine")
	s.is.Equal(httpapi.RequestID(t.Context()), "")
}

func TestLogHandler(t *testing.T) {
	is := is.New(t)
	var log journal
	var ctx context.Context
	s := serve(t, httpapi.Options{}, func(c *engine.Config) {
		c.Admit = func(c context.Context, _ engine.Admission) error { ctx = c; return imagegen.Invalid("no") }
	})
	s.post(fox(""), "X-Request-Id", "mine")
	h := httpapi.NewLogHandler(log.logger().Handler())
	is.Equal(httpapi.NewLogHandler(h), h) // once is enough
	l := slog.New(h).With("a", 1)
	l.InfoContext(ctx, "with")
	l.Info("without")
	is.Equal(cmp.Diff([]map[string]any{
		{"level": "INFO", "msg": "with", "a": 1.0, "request_id": "mine"},
		{"level": "INFO", "msg": "without", "a": 1.0},
	}, log.lines(t)), "")
}

// A handler that panics answers 500 and is logged; the connection serves on.
func TestPanic(t *testing.T) {
	var log journal
	s := serve(t, httpapi.Options{Log: log.logger()}, func(c *engine.Config) {
		c.Admit = func(_ context.Context, a engine.Admission) error {
			if a.Request.Prompt == "abort" {
				panic(http.ErrAbortHandler)
			}
			panic("trouble")
		}
	})
	s.refused(s.post(fox("")), http.StatusInternalServerError, imagegen.CodeInternal)
	s.is.True(strings.Contains(log.String(), "trouble") && strings.Contains(log.String(), "goroutine"))
	s.is.Equal(s.do("GET", "/healthz", "").StatusCode, http.StatusOK)

	_, err := transport.RoundTrip(s.request(http.MethodPost, generations,
		strings.NewReader(`{"model":"fake-1","prompt":"abort"}`)))
	s.is.True(err != nil) // net/http is asked to cut the connection, and does
}
