package main_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// traces is a collector.
type traces struct {
	*httptest.Server
	mu    sync.Mutex
	spans map[string]string // name → trace
	about string
}

func collect(t *testing.T) *traces {
	c := &traces{spans: make(map[string]string)}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent collector.ExportTraceServiceRequest
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &sent) != nil {
			t.Errorf("no traces: %s", r.URL.Path)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, of := range sent.ResourceSpans {
			c.about = of.Resource.String()
			for _, in := range of.ScopeSpans {
				for _, s := range in.Spans {
					c.spans[s.Name] = hex.EncodeToString(s.TraceId)
				}
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// The daemon sends traces where the standard variables say, and its log names them.
func TestTraces(t *testing.T) {
	t.Parallel()
	is, c := is.New(t), collect(t)
	d := daemontest.Start(t, daemontest.Options{Env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.URL,
		"OTEL_BSP_SCHEDULE_DELAY=50", "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=test"}})
	_, key := d.NewUser(10)
	q := daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": "a fox", "size": "64x64"})
	is.Equal(d.Call(q).Status, http.StatusOK)
	is.Equal(d.Terminate(time.Minute), 0) // the last spans are sent then
	c.mu.Lock()
	defer c.mu.Unlock()
	trace := c.spans["POST /api/v1/images/generations"]
	is.Equal(len(trace), 32)
	for _, name := range []string{"charge", "generate_content fake-1", "store image", "settle"} {
		is.Equal(c.spans[name], trace)
	}
	says(t, c.about, "imagegend", "deployment.environment.name")
	found := false
	for line := range strings.Lines(d.Output()) {
		found = found || strings.Contains(line, `"msg":"request"`) && strings.Contains(line, `"trace_id":"`+trace+`"`)
	}
	is.True(found)
}

// Variables that say what cannot be done are an error, and one that turns traces off does.
func TestTraceSettings(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Launch(t, daemontest.Options{Env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317",
		"OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}})
	is.Equal(d.Wait(time.Minute), 1)
	says(t, d.Output(), "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/protobuf", "4318")
	daemontest.Start(t, daemontest.Options{Env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1",
		"OTEL_SDK_DISABLED=true"}})
}
