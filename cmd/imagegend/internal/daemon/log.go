package daemon

import (
	"io"
	"log/slog"

	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// text reports whether people rather than programs read the output.
func (o Options) text() bool {
	return o.LogFormat == "text" || o.LogFormat == "auto" && (o.Human || o.Dev)
}

func newLog(o Options) *slog.Logger {
	var h slog.Handler = slog.NewJSONHandler(o.Output, nil)
	if o.text() {
		h = textHandler(o.Output)
	}
	return slog.New(httpapi.NewLogHandler(h))
}

// textHandler writes the time of day only: who looks on knows the date.
func textHandler(w io.Writer) slog.Handler {
	return slog.NewTextHandler(w, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.String(slog.TimeKey, a.Value.Time().Format("15:04:05"))
		}
		return a
	}})
}
