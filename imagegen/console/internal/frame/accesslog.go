package frame

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/imagegend/imagegend/internal/accesslog"
)

// loggingWriter is the ResponseWriter that every handler gets.
type loggingWriter struct {
	accesslog.Writer
	page *Page // set by handlerOf; nil: a static file
}

// logRequest logs a request. There are many of static files, and of what an open page asks for again and again: those
// are quiet.
func (f *Frame) logRequest(x *loggingWriter, r *http.Request) {
	route, quiet := "static/{version}/{file...}", true
	p := x.page
	if p != nil {
		_, route, _ = strings.Cut(p.Route.Pattern, " ")
		route, quiet = strings.TrimSuffix(route, "{$}"), p.Scripted() && r.Method == http.MethodGet
	}
	// The two catch-all routes have the pattern "/".
	if route = f.Root + route; strings.HasSuffix(route, "//") {
		route = "" // no route matched
	}
	level := x.Level(quiet)
	if !f.Log.Enabled(r.Context(), level) {
		return
	}
	attrs := x.Attrs(r.Method, route, f.clientAddress(r))
	if p != nil && p.Person.Known() {
		attrs = append(attrs, slog.String("user_id", string(p.Person.ID)))
	}
	if p != nil && p.Generation != "" {
		attrs = append(attrs, slog.String("generation_id", string(p.Generation)))
	}
	f.Log.LogAttrs(r.Context(), level, "request", attrs...)
}
