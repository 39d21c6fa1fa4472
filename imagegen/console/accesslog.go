package console

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// loggingWriter is an answer on its way, for the line of its request in the log.
type loggingWriter struct {
	http.ResponseWriter
	began  time.Time
	page   *page // that answers; nil: a static file
	status int   // 0: not begun
	bytes  int64
}

// Unwrap serves http.ResponseController.
func (x *loggingWriter) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (x *loggingWriter) WriteHeader(status int) {
	if x.status == 0 {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (x *loggingWriter) Write(p []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(p)
	x.bytes += int64(n)
	return n, err
}

// ReadFrom implements io.ReaderFrom, so that the system can copy a file to the connection by itself.
func (x *loggingWriter) ReadFrom(r io.Reader) (int64, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := io.Copy(x.ResponseWriter, r)
	x.bytes += n
	return n, err
}

// logRequest writes the line of a request, with the route instead of the path: that of a link is a secret.
func (c *Console) logRequest(x *loggingWriter, r *http.Request) {
	route, level := "static/{version}/{file...}", slog.LevelDebug // many, and of no interest
	var user imagegen.UserID
	if p := x.page; p != nil {
		_, route, _ = strings.Cut(p.route.pattern, " ")
		route, level, user = strings.TrimSuffix(route, "{$}"), p.logLevel(x.status), p.person.ID
	}
	if route = c.cfg.Path + route; strings.HasSuffix(route, "//") {
		route = "" // none fits
	}
	if !c.cfg.Log.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{slog.String("method", r.Method), slog.String("route", route), slog.Int("status", x.status),
		slog.Int64("bytes", x.bytes), slog.Float64("duration_ms", float64(time.Since(x.began).Microseconds())/1000)}
	if at := c.address(r); at.IsValid() {
		attrs = append(attrs, slog.String("address", at.String()))
	}
	if user != "" {
		attrs = append(attrs, slog.String("user_id", string(user)))
	}
	if x.page != nil && x.page.about != "" {
		attrs = append(attrs, slog.String("generation_id", string(x.page.about)))
	}
	c.cfg.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

// logLevel is how loud a page's request is in the log. What a page that is left open asks again and
// again is of no interest.
func (p *page) logLevel(status int) slog.Level {
	switch {
	case status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable:
		return slog.LevelError
	case p.scripted() && p.r.Method == http.MethodGet:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
