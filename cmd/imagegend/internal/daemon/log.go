package daemon

import (
	"io"
	"log/slog"

	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/otel"
)

// text reports whether people rather than programs read the output.
func (o Options) text() bool {
	return o.LogFormat == "text" || o.LogFormat == "auto" && (o.Human || o.Dev)
}

func newLog(o Options) *slog.Logger {
	h := slog.Handler(slog.NewJSONHandler(o.Output, &slog.HandlerOptions{Level: levels[o.LogLevel]}))
	if o.text() {
		h = textHandler(o.Output, levels[o.LogLevel])
	}
	return slog.New(httpapi.NewLogHandler(otel.NewLogHandler(h)))
}

// levels are the words of --log-level.
var levels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// textHandler writes the time of day only: who looks on knows the date.
func textHandler(w io.Writer, level slog.Level) slog.Handler {
	return slog.NewTextHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.String(slog.TimeKey, a.Value.Time().Format("15:04:05"))
		}
		return a
	}})
}
