package otel_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/otel"
)

// journal is a log that several write.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) lines(t *testing.T) (all []map[string]any) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	for line := range strings.Lines(j.text.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// site is a service over HTTP whose spans are collected.
type site struct {
	*testing.T
	is      *is.I
	running imagegentest.Running
	spans   *tracetest.SpanRecorder
	log     *journal
	handler http.Handler
	key     string
}

func serve(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, is: is.New(t), spans: tracetest.NewSpanRecorder(), log: new(journal)}
	tracer := otel.New(sdk.NewTracerProvider(sdk.WithSpanProcessor(s.spans)))
	log := slog.New(httpapi.NewLogHandler(otel.NewLogHandler(slog.NewJSONHandler(s.log, nil))))
	s.running = imagegentest.Start(t, func(c *engine.Config) {
		c.Observer, c.Log, c.Attempts.Backoff = tracer, log, []time.Duration{time.Millisecond}
	})
	s.key = s.running.Key(t, imagegentest.Alice)
	s.handler = httpapi.Watch(httpapi.NewHandler(s.running.Engine, httpapi.Options{Log: log}), tracer.Watcher())
	return s
}

const (
	callersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callersSpan  = "00f067aa0ba902b7"
)

func (s *site) generate(prompt string, more string) (status int, id string) {
	s.Helper()
	r := httptest.NewRequestWithContext(s.Context(), http.MethodPost, "/api/v1/images/generations",
		strings.NewReader(`{"model": "`+s.model()+`", "size": "64x64", "prompt": "`+prompt+`"`+more+`}`))
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Traceparent", "00-"+callersTrace+"-"+callersSpan+"-01")
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	var g struct{ ID string }
	s.is.NoErr(json.Unmarshal(w.Body.Bytes(), &g))
	return w.Code, g.ID
}

func (s *site) model() string {
	s.Helper()
	models, err := s.running.Engine.Models(s.Context())
	s.is.NoErr(err)
	return models[0].ID
}

// tree is the spans that ended, each behind the names of those that it lies in.
func (s *site) tree() (paths []string, trace map[string]bool) {
	spans := s.spans.Ended()
	byID := make(map[string]sdk.ReadOnlySpan)
	for _, x := range spans {
		byID[x.SpanContext().SpanID().String()] = x
	}
	trace = make(map[string]bool)
	for _, x := range spans {
		path := x.Name()
		for p, ok := byID[x.Parent().SpanID().String()]; ok; p, ok = byID[p.Parent().SpanID().String()] {
			path = p.Name() + " > " + path
		}
		paths = append(paths, path)
		trace[x.SpanContext().TraceID().String()] = true
	}
	return paths, trace
}

// awaits polls until so many spans have ended.
func (s *site) awaits(n int) {
	s.Helper()
	for limit := time.Now().Add(time.Minute); len(s.spans.Ended()) < n; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(limit) {
			paths, _ := s.tree()
			s.Fatalf("%d spans of %d: %v", len(paths), n, paths)
		}
	}
}

func attributesOf(s sdk.ReadOnlySpan) map[string]string {
	all := make(map[string]string)
	for _, a := range s.Attributes() {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}

// One generation is one trace, that of the caller, through HTTP, engine, store and provider; the log names it.
func TestTraceOfAGeneration(t *testing.T) {
	s := serve(t)
	status, id := s.generate("a fox", "")
	s.is.Equal(status, http.StatusOK)
	s.awaits(6)
	paths, traces := s.tree()
	request := "POST /api/v1/images/generations"
	attempt := request + " > generate_content " + s.model()
	s.is.Equal(cmp.Diff([]string{request + " > wait for a slot", request + " > charge", attempt + " > store image",
		attempt, request + " > settle", request}, paths), "")
	s.is.Equal(traces, map[string]bool{callersTrace: true})
	for _, x := range s.spans.Ended() {
		a := attributesOf(x)
		switch {
		case strings.HasPrefix(x.Name(), "generate_content"):
			s.is.Equal(a["gen_ai.operation.name"], "generate_content")
			s.is.Equal(a["gen_ai.output.type"], "image")
			s.is.Equal(a["gen_ai.provider.name"], "fake")
			s.is.Equal(a["gen_ai.request.model"], s.model())
			s.is.Equal(a["gen_ai.request.choice.count"], "1")
			s.is.Equal(a["imagegen.generation.id"], id)
		case x.Name() == request:
			s.is.Equal(x.Parent().SpanID().String(), callersSpan)
			s.is.Equal(a["http.route"], "/api/v1/images/generations")
			s.is.Equal(a["http.response.status_code"], "200")
		}
		for _, value := range a {
			s.is.True(!strings.Contains(value, "fox") && !strings.Contains(value, s.key))
		}
	}
	found := false
	for _, line := range s.log.lines(t) {
		if line["msg"] == "request" && line["generation_id"] == id {
			found = line["trace_id"] == callersTrace && line["span_id"] != nil
		}
	}
	s.is.True(found)
}

// Work that was queued goes on in the trace of who asked, with each of its attempts.
func TestTraceOfQueuedWork(t *testing.T) {
	s := serve(t)
	status, _ := s.generate("[fake:transient=1] a fox", `, "async": true`)
	s.is.Equal(status, http.StatusAccepted)
	s.awaits(7)
	paths, traces := s.tree()
	s.is.Equal(traces, map[string]bool{callersTrace: true})
	request := "POST /api/v1/images/generations"
	attempt := request + " > generate_content " + s.model()
	count := make(map[string]int)
	for _, p := range paths {
		count[p]++
	}
	s.is.Equal(cmp.Diff(map[string]int{request: 1, request + " > charge": 1, request + " > wait for a slot": 1,
		attempt: 2, attempt + " > store image": 1, request + " > settle": 1}, count), "")
}

// A span names the class of a failure alone.
func TestTraceOfAFailure(t *testing.T) {
	s := serve(t)
	status, _ := s.generate("[fake:refuse]", "")
	s.is.Equal(status, http.StatusInternalServerError)
	for _, x := range s.spans.Ended() {
		a := attributesOf(x)
		switch {
		case strings.HasPrefix(x.Name(), "generate_content"):
			s.is.Equal(a["error.type"], "refused")
			s.is.Equal(len(x.Events()), 0)
		case strings.HasPrefix(x.Name(), "POST"):
			s.is.Equal(a["error.type"], "500")
		}
	}
	named := false
	for _, line := range s.log.lines(t) {
		if line["msg"] == "images were not delivered" {
			named = line["trace_id"] == callersTrace
		}
	}
	s.is.True(named)
}

// The latest queued work is remembered, however much has ended elsewhere: on other nodes, or cancelled.
func TestLatestQueuedWorkKeepsItsTrace(t *testing.T) {
	is, spans := is.New(t), tracetest.NewSpanRecorder()
	tracer := otel.New(sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)))
	of := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1},
		TraceFlags: trace.FlagsSampled})
	asking := trace.ContextWithSpanContext(t.Context(), of)
	var last imagegen.Event
	for n := range 30_000 {
		last = imagegen.Event{Kind: imagegen.EventCharged,
			Generation: imagegen.Generation{ID: imagegen.GenerationID(fmt.Sprint("gen_", n))}}
		tracer.Observe(tracer.Begin(asking, last), last)
	}
	last.Kind = imagegen.EventAttempted
	tracer.Observe(tracer.Begin(t.Context(), last), last)
	ended := spans.Ended()
	is.Equal(ended[len(ended)-1].SpanContext().TraceID(), of.TraceID())
}

// Health checks have no spans, and neither do commits.
func TestUntraced(t *testing.T) {
	s := serve(t)
	s.handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/healthz", nil))
	_, err := s.running.Engine.Audit(t.Context())
	s.is.NoErr(err)
	s.is.Equal(len(s.spans.Ended()), 0)
}
