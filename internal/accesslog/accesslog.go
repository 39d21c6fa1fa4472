// Package accesslog notes what was answered to a request, and what the line about it in the log says.
package accesslog

import (
	"cmp"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"time"
)

// Writer is the ResponseWriter of one request. It is not safe for concurrent use.
type Writer struct {
	http.ResponseWriter
	Began  time.Time
	Status int   // 0: the answer has not begun
	Bytes  int64 // of the body, as far as the connection took them
}

// Unwrap serves http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *Writer) WriteHeader(status int) {
	if w.Status < http.StatusOK { // not yet set, or informational, such as 103
		w.Status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *Writer) Write(p []byte) (int, error) {
	w.noteStatus()
	n, err := w.ResponseWriter.Write(p)
	w.Bytes += int64(n)
	return n, err
}

// ReadFrom implements io.ReaderFrom, so that the system can copy a file to the connection by itself.
func (w *Writer) ReadFrom(r io.Reader) (int64, error) {
	w.noteStatus()
	n, err := io.Copy(w.ResponseWriter, r)
	w.Bytes += n
	return n, err
}

// noteStatus notes the status with which net/http answers unless WriteHeader was called.
func (w *Writer) noteStatus() {
	w.Status = cmp.Or(w.Status, http.StatusOK)
}

// Level is the level of the request's line; a quiet one is logged for debugging only. 503 is not an error: the service
// says so when it has too much to do.
func (w *Writer) Level(quiet bool) slog.Level {
	switch {
	case w.Status >= http.StatusInternalServerError && w.Status != http.StatusServiceUnavailable:
		return slog.LevelError
	case quiet:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// Attrs begins the line, with room for what an interface adds. It names the route and not the path, which may hold a
// secret. at is the caller's address; if it is not valid, the line has none.
func (w *Writer) Attrs(method, route string, at netip.Addr) []slog.Attr {
	attrs := append(make([]slog.Attr, 0, 11), slog.String("method", method), slog.String("route", route),
		slog.Int("status", w.Status), slog.Int64("bytes", w.Bytes), slog.Float64("duration_ms",
			float64(time.Since(w.Began).Microseconds())/1000))
	if at.IsValid() {
		attrs = append(attrs, slog.String("address", at.String()))
	}
	return attrs
}
