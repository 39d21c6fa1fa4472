package daemon

import (
	"context"
	"io"
	"log"
	"log/slog"
	"strings"

	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/otel"
)

// text reports whether the output is for people rather than programs.
func (o Options) text() bool {
	return o.LogFormat == "text" || o.LogFormat == "auto" && (o.Human || o.Dev)
}

// newLog returns the log. A record with the context of a request gets its request_id, trace_id and span_id.
func newLog(o Options) *slog.Logger {
	h := slog.Handler(slog.NewJSONHandler(o.Output, &slog.HandlerOptions{Level: levels[o.LogLevel]}))
	if o.text() {
		h = textHandler(o.Output, levels[o.LogLevel])
	}
	// The engine and the handlers get this log, so that all lines of a request can be found by its request_id.
	return slog.New(httpapi.NewLogHandler(otel.NewLogHandler(h)))
}

// levels maps the words of --log-level.
var levels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn,
	"error": slog.LevelError}

// textHandler writes the time of day without the date: somebody is looking on.
func textHandler(w io.Writer, level slog.Level) slog.Handler {
	return slog.NewTextHandler(w, &slog.HandlerOptions{Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.String(slog.TimeKey, a.Value.Time().Format("15:04:05"))
			}
			return a
		}})
}

// newTroubles returns a log for the errors that an http.Server reports. A failed TLS handshake is logged at the level
// debug, since scanners of addresses cause them all day.
func newTroubles(l *slog.Logger) *log.Logger { return log.New(troubles{l}, "", 0) }

// troubles writes to a slog.Logger what package log gives it.
type troubles struct{ log *slog.Logger }

// Write receives one line for each error, as package log writes it.
func (t troubles) Write(line []byte) (int, error) {
	message, level := strings.TrimSpace(string(line)), slog.LevelWarn
	if strings.HasPrefix(message, "http: TLS handshake error") {
		level = slog.LevelDebug
	}
	t.log.Log(context.Background(), level, message)
	return len(line), nil
}
