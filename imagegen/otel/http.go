package otel

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// Watcher returns a watcher for httpapi.Watch that makes a span for each request. The span
// continues the trace of a caller that sends traceparent (W3C Trace Context). Health checks have
// no spans.
func (t *Tracer) Watcher() httpapi.Watcher { return watcher{t} }

// watcher keeps the span of a request in its context. End does nothing without one.
type watcher struct{ *Tracer }

type requestKey struct{}

// Begin implements [httpapi.Watcher].
func (w watcher) Begin(r *http.Request) context.Context {
	if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
		return r.Context()
	}
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := w.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
	return context.WithValue(ctx, requestKey{}, span)
}

// End implements [httpapi.Watcher].
func (watcher) End(ctx context.Context, a httpapi.Answer) {
	span, ok := ctx.Value(requestKey{}).(trace.Span)
	if !ok {
		return
	}
	span.SetName(strings.TrimSpace(a.Method + " " + a.Route))
	span.SetAttributes(attribute.String("http.request.method", strings.Replace(a.Method, "other", "_OTHER", 1)),
		attribute.Int("http.response.status_code", a.Status))
	if a.Route != "" {
		span.SetAttributes(attribute.String("http.route", a.Route))
	}
	if a.Status >= http.StatusInternalServerError || a.Status == 0 {
		span.SetAttributes(attribute.String("error.type", strconv.Itoa(a.Status)))
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
