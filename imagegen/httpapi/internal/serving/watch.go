package serving

import (
	"context"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/internal/accesslog"
)

// Watcher is called for each request, for metrics and traces. It must be quick and safe for concurrent
// use.
type Watcher interface {
	// Begin is called when a request begins. It returns the context with which the request goes on: the
	// request's own, or one derived from it.
	Begin(r *http.Request) context.Context

	// End is called once the request was answered, also if its handler panicked. ctx is that of Begin.
	End(ctx context.Context, a Answer)
}

// Answer describes an answered request to a [Watcher]. It holds nothing that a caller can choose
// freely, so that it can label metrics.
type Answer struct {
	Method   string // one of those that HTTP knows, or "other"
	Route    string // its pattern; "" if none matches
	Status   int    // 0: the connection was cut before there was one
	Duration time.Duration
}

// Watch calls watchers for each request that h answers. Each gets the context of the one before.
func Watch(h http.Handler, watchers ...Watcher) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &watched{Writer: accesslog.Writer{ResponseWriter: w, Began: time.Now()}, method: r.Method}
		for _, o := range watchers {
			if ctx := o.Begin(r); ctx != r.Context() {
				r = r.WithContext(ctx)
			}
		}
		defer func() {
			a := Answer{Method: knownMethod(x.method), Route: x.route, Status: x.Status, Duration: time.Since(x.Began)}
			for _, o := range watchers {
				o.End(r.Context(), a)
			}
		}()
		h.ServeHTTP(x, r)
		if x.Status == 0 {
			x.Status = http.StatusOK // as net/http answers
		}
	})
}

// WithRoute gives all requests of a handler one route name. It has an effect only below Watch.
func WithRoute(route string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tellRoute(w, route)
		h.ServeHTTP(w, r)
	})
}

// watched is an answer that somebody watches.
type watched struct {
	accesslog.Writer
	method, route string
}

// tellRoute sets the route of the answer that w belongs to, if somebody watches it: it looks through
// the writers that wrap each other for the one of Watch.
func tellRoute(w http.ResponseWriter, route string) {
	for {
		if x, ok := w.(*watched); ok {
			x.route = route
			return
		}
		inner, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return
		}
		w = inner.Unwrap()
	}
}

// knownMethod bounds the number of values that a metric's label can have.
func knownMethod(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return m
	}
	return "other"
}
