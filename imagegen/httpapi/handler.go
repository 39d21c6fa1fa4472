// Package httpapi serves an [engine.Engine] over HTTP, as docs/api.md describes it.
//
//	server := httpapi.NewServer(httpapi.NewHandler(engine, httpapi.Options{Log: log}))
//	server.Addr = "127.0.0.1:8080"
//	err := server.ListenAndServe()
//
// The handler sets the deadlines of each connection itself: a body must keep coming and an answer
// must be taken, but a generation may last as long as the engine lets it.
//
// routes.go has the routes; each has a handler in a file of its own. A handler answers, or returns
// the error that is the answer, and errors.go writes all of those. What other interfaces over the
// same engine need too is in internal/serving: deadlines, keys, limits, request identifiers and the
// log. Nothing about credits, ownership or images is decided here: that is the engine's.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"

	"github.com/julienschmidt/httprouter"
)

// Options configure NewHandler. The zero value works.
type Options struct {
	// BaseURL is where callers reach the service, such as https://images.example.com: the
	// addresses in answers begin with it. A slash at its end is removed. "": the request's
	// Host.
	BaseURL string

	// TrustedProxies are the peers whose headers are believed: X-Forwarded-Proto and
	// X-Forwarded-Host if BaseURL is empty, and X-Forwarded-For for the log. They must set
	// the first two themselves, not pass them on. nil: nobody's headers are.
	TrustedProxies []netip.Prefix

	// CORSOrigins are the origins whose scripts may call the service, such as
	// https://app.example.com; "*" is any. nil: none.
	CORSOrigins []string

	// RequestsAtOnce is how many requests of one API key can run at once; beyond it the
	// answer is ErrOverloaded. Each takes memory until its answer is read. 0: 256.
	RequestsAtOnce int

	// Limits bound the keys together with other interfaces that are given the same Limits,
	// such as package openai's, and replace RequestsAtOnce. nil: limits of its own.
	Limits *Limits

	// RedirectImages answers a request for an image with an address in the image store itself, if
	// that is an [imagegen.ImageStore] with a method Link: the bytes then do not pass through this
	// process.
	RedirectImages bool

	// Log gets a line for each request, with the route instead of the path, since the
	// identifier of an image lets anybody open it. Neither keys nor prompts are logged.
	// nil: silent.
	Log *slog.Logger
}

// NewHandler returns a handler for all routes of the interface. It is safe for concurrent
// use and need not be closed. While the engine drains it still serves reads.
func NewHandler(service *engine.Engine, o Options) http.Handler {
	a := &api{engine: service, redirects: o.RedirectImages, site: serving.NewSite(serving.Site{BaseURL: o.BaseURL, TrustedProxies: o.TrustedProxies,
		CORSOrigins: o.CORSOrigins, Limits: o.limits()}, o.Log)}
	a.router = a.routes()
	return a
}

func (o Options) limits() *serving.Limits {
	if o.Limits != nil {
		return o.Limits
	}
	return serving.NewLimits(o.RequestsAtOnce)
}

// Limits count what runs for each API key. Interfaces that are given the same Limits
// bound their keys together.
type Limits = serving.Limits

// NewLimits returns limits for that many requests of one API key at once; 0: 256.
func NewLimits(requestsAtOnce int) *Limits { return serving.NewLimits(requestsAtOnce) }

// api is the handler. Only catalog changes after it was made.
type api struct {
	engine    *engine.Engine
	redirects bool // requests for images are redirected to where they are stored
	site      *serving.Site
	router    *httprouter.Router
	catalog   atomic.Pointer[catalog] // as it was last encoded; nil until then
}

// exchange is one request and its answer on the way through the handlers. It is the
// http.ResponseWriter that the router and the handlers get, so that each of them finds it again.
// It belongs to the goroutine of its request.
type exchange struct {
	serving.Exchange
	id      string          // the :id of the route
	session *engine.Session // of routes that need a key
}

// answer calls a handler and writes the error that it may return.
func (x *exchange) answer(h handle) {
	if err := h(x); err != nil {
		x.fail(err)
	}
}

// ServeHTTP does what every request needs, whatever its route. Finish also answers for a handler
// that panics.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{}
	a.site.Begin(&x.Exchange, w, r)
	defer a.site.Finish(&x.Exchange, func() { x.fail(imagegen.ErrInternal) })
	a.router.ServeHTTP(x, x.Request)
}

// RequestID returns the X-Request-Id of the request that ctx belongs to, also in work
// that goes on after its answer; "" if there is none.
func RequestID(ctx context.Context) string { return serving.RequestID(ctx) }

// WithRequestID gives the requests of another handler what those of NewHandler have: an
// X-Request-Id in the answer, and a context for RequestID and NewLogHandler.
func WithRequestID(h http.Handler) http.Handler { return serving.WithRequestID(h) }

// NewLogHandler returns a handler that adds request_id to each record whose context has
// one. Give it to the engine's logger too, so that all lines of a request can be found. A
// handler that already does so is returned as it is.
func NewLogHandler(h slog.Handler) slog.Handler { return serving.NewLogHandler(h) }

// Watcher is called for each request, see Watch.
type Watcher = serving.Watcher

// Answer describes an answered request to a Watcher.
type Answer = serving.Answer

// Watch calls watchers for each request that h answers, for metrics and traces. The
// handlers of this module name their routes; for others WithRoute does.
func Watch(h http.Handler, watchers ...Watcher) http.Handler { return serving.Watch(h, watchers...) }

// WithRoute gives all requests of another handler one route name, for Watch.
func WithRoute(route string, h http.Handler) http.Handler { return serving.WithRoute(route, h) }
