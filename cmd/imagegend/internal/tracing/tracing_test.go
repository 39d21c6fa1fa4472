package tracing_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/tracing"
)

// Traces that cannot be sent are refused, whether or not a collector is named.
func TestWhatTheVariablesAskFor(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"
	for name, test := range map[string]struct {
		variables []string
		want      string // of the error; "": none
		traces    bool
	}{
		"nothing":     {nil, "", false},
		"a collector": {[]string{endpoint}, "", true},
		"another exporter": {[]string{"OTEL_TRACES_EXPORTER=console"},
			`OTEL_TRACES_EXPORTER is "console"; traces are sent by otlp alone`, false},
		"another exporter to a collector": {[]string{"OTEL_TRACES_EXPORTER=zipkin", endpoint}, `"zipkin"`, false},
		"several": {[]string{"OTEL_TRACES_EXPORTER=otlp,console", endpoint}, `"otlp,console"`,
			false},
		"none": {[]string{"OTEL_TRACES_EXPORTER=none", endpoint}, "", false},
		"all turned off": {[]string{"OTEL_TRACES_EXPORTER=console", "OTEL_SDK_DISABLED=true"}, "",
			false},
		"otlp, and nobody to send it to": {[]string{"OTEL_TRACES_EXPORTER=otlp"}, "", false},
		"another protocol": {[]string{"OTEL_EXPORTER_OTLP_PROTOCOL=grpc", endpoint},
			`OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"`, false},
		"a protocol of nothing": {[]string{"OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			for _, v := range test.variables {
				name, value, _ := strings.Cut(v, "=")
				t.Setenv(name, value)
			}
			tracer, stop, err := tracing.Start(t.Context(), "1", slog.New(slog.DiscardHandler))
			if test.want != "" {
				is.True(err != nil && strings.Contains(err.Error(), test.want))
				return
			}
			is.NoErr(err)
			defer stop()
			is.Equal(tracer != nil, test.traces)
		})
	}
}
