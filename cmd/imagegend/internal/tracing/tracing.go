// Package tracing sends spans to a collector over OTLP with HTTP. It is configured by the standard variables of
// OpenTelemetry alone, which the exporter reads itself; what a span holds is decided by package otel.
package tracing

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	api "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/imagegend/imagegend/imagegen/otel"
)

// flushTime bounds how long the process waits at its end for the last spans to be sent.
const flushTime = 3 * time.Second

// disabled reports whether the environment turns traces off.
func disabled() bool {
	return strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none"
}

// collected reports whether the environment names a collector. Without one nothing is set up: the exporter's own
// default, localhost:4318, would send to nobody and log errors.
func collected() bool {
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// Check refuses what the variables can ask for and this exporter cannot do. The exporter would ignore it without a
// word. Another exporter is refused also without a collector, since it would need none; a protocol alone asks for
// nothing. Check connects to nothing.
func Check() error {
	e := os.Getenv("OTEL_TRACES_EXPORTER")
	p := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"),
		"http/protobuf")
	switch {
	case disabled():
		return nil
	case e != "" && e != "otlp":
		return fmt.Errorf("OTEL_TRACES_EXPORTER is %q; traces are sent by otlp alone: write otlp, or none for no traces", e)
	case collected() && p != "http/protobuf":
		return fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q; traces are sent with http/protobuf alone, usually to port 4318 of a collector", p)
	}
	return nil
}

// Start returns a tracer that sends spans to the collector of the environment, and stop, which sends the last ones.
// Without a collector the tracer is nil. A collector that cannot be reached is not an error: it is logged, and spans
// are dropped. stop is nil only with an error, and waits flushTime at most.
func Start(ctx context.Context, version string, log *slog.Logger) (t *otel.Tracer, stop func(), err error) {
	if err := Check(); err != nil {
		return nil, nil, err
	}
	if disabled() || !collected() {
		return nil, func() {}, nil
	}
	to, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, nil,
			fmt.Errorf("traces cannot be sent; look at the variables that begin with OTEL_EXPORTER_OTLP_: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "imagegend"),
		attribute.String("service.version", version)),
		// Last, so that the environment overrides the rest.
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES cannot be used: %w", err)
	}
	api.SetErrorHandler(api.ErrorHandlerFunc(func(err error) { log.Warn("traces could not be sent", "error", err) }))
	p := sdk.NewTracerProvider(sdk.WithBatcher(to), sdk.WithResource(about))
	return otel.New(p), func() {
		ctx, cancel := context.WithTimeout(context.Background(), flushTime)
		defer cancel()
		if err := p.Shutdown(ctx); err != nil {
			log.Warn("the last traces could not be sent", "error", err)
		}
	}, nil
}
