package console

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// loggingWriter is the ResponseWriter that every handler gets. It records what the log says about the answer.
type loggingWriter struct {
	http.ResponseWriter
	began  time.Time
	page   *page // set by Console.handler; nil: a static file
	status int   // 0: the answer has not begun
	bytes  int64 // of the body, as far as they were accepted
}

// Unwrap lets http.ResponseController reach the connection's deadlines.
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

// ReadFrom implements io.ReaderFrom: io.Copy then hands a file down to the connection, where the kernel can copy it.
func (x *loggingWriter) ReadFrom(r io.Reader) (int64, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := io.Copy(x.ResponseWriter, r)
	x.bytes += n
	return n, err
}

// logRequest logs a request. It logs the route instead of the path, since the path of a link contains its secret.
func (c *Console) logRequest(x *loggingWriter, r *http.Request) {
	route, level := "static/{version}/{file...}", slog.LevelDebug // there are many, and nobody looks for them
	var user imagegen.UserID
	if p := x.page; p != nil {
		_, route, _ = strings.Cut(p.route.pattern, " ")
		route, level, user = strings.TrimSuffix(route, "{$}"), p.logLevel(x.status), p.person.ID
	}
	// The two catch-all routes have the pattern "/".
	if route = c.cfg.Path + route; strings.HasSuffix(route, "//") {
		route = "" // no route matched
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

// logLevel is the level at which a page's request is logged. What an open page asks for again and again is logged for
// debugging only. A 503 is no error: the service is busy, and says so.
func (p *page) logLevel(status int) slog.Level {
	switch {
	case status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable:
		return slog.LevelError
	case p.scripted() && p.r.Method == http.MethodGet:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
