package daemon

import (
	"io"
	"log/slog"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/batchlog"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/otel"
)

// text reports whether people rather than programs read the output.
func (o Options) text() bool {
	return o.LogFormat == "text" || o.LogFormat == "auto" && (o.Human || o.Dev)
}

// newLog returns the log, and what writes the last lines of it. People see each line at once.
func newLog(o Options) (log *slog.Logger, flush func()) {
	level := levels[o.LogLevel]
	h, flush := textHandler(o.Output, level), func() {}
	if !o.text() {
		h, flush = batchlog.New(o.Output, func(w io.Writer) slog.Handler { return jsonHandler(w, level) })
	}
	return slog.New(httpapi.NewLogHandler(otel.NewLogHandler(h))), flush
}

// levels are the words of --log-level.
var levels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

func jsonHandler(w io.Writer, level slog.Level) slog.Handler {
	return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})
}

// textHandler writes the time of day only: who looks on knows the date.
func textHandler(w io.Writer, level slog.Level) slog.Handler {
	return slog.NewTextHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.String(slog.TimeKey, a.Value.Time().Format("15:04:05"))
		}
		return a
	}})
}
