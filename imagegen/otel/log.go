package otel

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// NewLogHandler returns a handler that passes records to h, and adds trace_id and span_id to those whose
// context belongs to a trace, sampled or not.
func NewLogHandler(h slog.Handler) slog.Handler { return logHandler{h} }

type logHandler struct{ slog.Handler }

func (l logHandler) Handle(ctx context.Context, r slog.Record) error {
	if of := trace.SpanContextFromContext(ctx); of.IsValid() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", of.TraceID().String()), slog.String("span_id", of.SpanID().String()))
	}
	return l.Handler.Handle(ctx, r)
}

func (l logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{l.Handler.WithAttrs(attrs)}
}

func (l logHandler) WithGroup(name string) slog.Handler { return logHandler{l.Handler.WithGroup(name)} }
