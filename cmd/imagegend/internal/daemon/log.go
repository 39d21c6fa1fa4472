package daemon

import (
	"io"
	"log/slog"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/batchlog"
	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// text reports whether people rather than programs read the output.
func (o Options) text() bool {
	return o.LogFormat == "text" || o.LogFormat == "auto" && (o.Human || o.Dev)
}

// newLog returns the log, and what writes the last lines of it. People see each line at once.
func newLog(o Options) (log *slog.Logger, flush func()) {
	h, flush := textHandler(o.Output), func() {}
	if !o.text() {
		h, flush = batchlog.New(o.Output, jsonHandler)
	}
	return slog.New(httpapi.NewLogHandler(h)), flush
}

func jsonHandler(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) }

// textHandler writes the time of day only: who looks on knows the date.
func textHandler(w io.Writer) slog.Handler {
	return slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.String(slog.TimeKey, a.Value.Time().Format("15:04:05"))
		}
		return a
	}})
}
