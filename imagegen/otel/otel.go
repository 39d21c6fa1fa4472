// Package otel traces an engine with OpenTelemetry: it makes a span for each HTTP request,
// charge, wait for a slot, attempt, upstream call, stored image and settlement. It needs only
// OpenTelemetry's API: the trace.TracerProvider decides which spans are kept and where they go.
//
//	t := otel.New(provider)
//	e, err := engine.New(engine.Config{Observer: t, …})
//	handler := httpapi.Watch(httpapi.NewHandler(e, httpapi.Options{Log: log}), t.Watcher())
//
// Attributes have the names of OpenTelemetry's conventions for HTTP and GenAI, if these define
// one. No span contains a prompt, a user or a key.
package otel

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/imagegend/imagegend/imagegen"
)

const scope = "github.com/imagegend/imagegend/imagegen/otel"

// remembered is how many generations' traces are kept, the latest: more than are usually queued at once. Queued work of
// before gets a trace of its own.
const remembered = 20_000

// Tracer is an [imagegen.Observer] that makes spans. It is safe for concurrent use.
//
// Queued work belongs to the trace of the request that asked for it, as long as the same process
// does it; after a restart, or in another process, it has a trace of its own.
type Tracer struct {
	tracer trace.Tracer

	mu     sync.Mutex                                  // guards what follows
	traces map[imagegen.GenerationID]trace.SpanContext // of the requests that asked for them
	order  [remembered]imagegen.GenerationID           // a ring of the keys of traces
	next   int                                         // in order: the oldest, which is replaced next
}

var _ imagegen.Observer = (*Tracer)(nil)

// New returns a Tracer that makes its spans with p.
func New(p trace.TracerProvider) *Tracer {
	return &Tracer{tracer: p.Tracer(scope), traces: make(map[imagegen.GenerationID]trace.SpanContext)}
}

// Begin implements [imagegen.Observer].
func (t *Tracer) Begin(ctx context.Context, e imagegen.Event) context.Context {
	if e.Kind == imagegen.EventCharged { // before it is durable: queued work may begin as soon as it is
		t.remember(ctx, e.Generation.ID)
	}
	ctx, _ = t.start(ctx, e, time.Now())
	return ctx
}

// Observe implements [imagegen.Observer].
func (t *Tracer) Observe(ctx context.Context, e imagegen.Event) {
	switch e.Kind {
	case imagegen.EventCharged, imagegen.EventAttempted, imagegen.EventStored, imagegen.EventClosed:
		endSpan(trace.SpanFromContext(ctx), e)
	case imagegen.EventWaited, imagegen.EventAsked: // reported only afterwards, so the span is made up here
		_, span := t.start(ctx, e, time.Now().Add(-e.Duration))
		endSpan(span, e)
	case imagegen.EventReplayed:
		trace.SpanFromContext(ctx).SetAttributes(generationID(e), attribute.Bool("imagegen.replayed", true))
	}
}

// start begins a span at a time, in the trace of ctx or, if that has none, in the trace of the request
// that asked for the generation.
func (t *Tracer) start(ctx context.Context, e imagegen.Event, at time.Time) (context.Context, trace.Span) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		if of, ok := t.trace(e.Generation.ID); ok {
			ctx = trace.ContextWithRemoteSpanContext(ctx, of)
		}
	}
	kind := trace.SpanKindInternal
	if e.Kind == imagegen.EventAttempted || e.Kind == imagegen.EventAsked {
		kind = trace.SpanKindClient
	}
	return t.tracer.Start(ctx, name(e), trace.WithTimestamp(at), trace.WithSpanKind(kind),
		trace.WithAttributes(attributes(e)...))
}

// operation is the name that the conventions for GenAI give to a call that generates content.
const operation = "generate_content"

func name(e imagegen.Event) string {
	switch e.Kind {
	case imagegen.EventCharged:
		return "charge"
	case imagegen.EventAttempted:
		return operation + " " + e.Generation.Model
	case imagegen.EventAsked:
		return operation + " " + e.Member
	case imagegen.EventStored:
		return "store image"
	case imagegen.EventClosed:
		return "settle"
	case imagegen.EventWaited:
		return "wait for a slot"
	}
	return string(e.Kind)
}

// attributes are those that are known when a span begins, so that a sampler can decide by them.
func attributes(e imagegen.Event) []attribute.KeyValue {
	all := []attribute.KeyValue{generationID(e), attribute.String("gen_ai.request.model", e.Generation.Model)}
	switch e.Kind {
	case imagegen.EventAttempted, imagegen.EventAsked:
		all = append(all, attribute.String("gen_ai.operation.name", operation), attribute.String("gen_ai.output.type",
			"image"),
			attribute.String("gen_ai.provider.name", e.Provider), attribute.Int("gen_ai.request.choice.count",
				e.Generation.N))
	case imagegen.EventCharged:
		all = append(all, attribute.Int64("imagegen.credits", int64(e.Generation.CreditsRequested)))
	}
	if e.Member != "" {
		all = append(all, attribute.String("imagegen.member", e.Member))
	}
	return all
}

func generationID(e imagegen.Event) attribute.KeyValue {
	return attribute.String("imagegen.generation.id", string(e.Generation.ID))
}

// tokens are those that the upstream reported, by the names of OpenTelemetry's conventions for generative AI
// (gen-ai/gen-ai-spans.md of semantic-conventions, v1.37.0).
func tokens(c *imagegen.AttemptCost) (all []attribute.KeyValue) {
	if c == nil {
		return nil
	}
	if n := c.Usage.TextInput + c.Usage.ImageInput; n > 0 {
		all = append(all, attribute.Int64("gen_ai.usage.input_tokens", n))
	}
	if n := c.Usage.TextOutput + c.Usage.ImageOutput; n > 0 {
		all = append(all, attribute.Int64("gen_ai.usage.output_tokens", n))
	}
	return all
}

// endSpan ends a span. The text of an error stays out of it, since it may quote an upstream: it is in the log.
func endSpan(span trace.Span, e imagegen.Event) {
	if e.Kind == imagegen.EventAttempted || e.Kind == imagegen.EventAsked {
		span.SetAttributes(attribute.Int("imagegen.images", e.Count))
		span.SetAttributes(tokens(e.Cost)...)
		if ending := imagegen.EndingOf(e.Count, e.Err); ending != imagegen.EndedOK {
			fail(span, string(ending))
		}
	} else if e.Err != nil {
		fail(span, "error")
	}
	span.End()
}

// fail marks a span as failed, by one of a few words.
func fail(span trace.Span, kind string) {
	span.SetAttributes(attribute.String("error.type", kind))
	span.SetStatus(codes.Error, kind)
}

// remember keeps the trace of the request that asks for a generation, if it has one, in place of the oldest. Nothing is
// forgotten when a generation ends: this process need not be the one that ends it.
func (t *Tracer) remember(ctx context.Context, id imagegen.GenerationID) {
	of := trace.SpanContextFromContext(ctx)
	if !of.IsValid() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.traces, t.order[t.next])
	t.traces[id], t.order[t.next] = of, id
	t.next = (t.next + 1) % remembered
}

func (t *Tracer) trace(id imagegen.GenerationID) (trace.SpanContext, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	of, ok := t.traces[id]
	return of, ok
}
