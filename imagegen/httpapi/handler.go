// Package httpapi serves an [engine.Engine] over HTTP, as docs/api.md describes it.
//
//	server := httpapi.NewServer(httpapi.NewHandler(engine, httpapi.Options{Log: log}))
//	server.Addr = "127.0.0.1:8080"
//	err := server.ListenAndServe()
//
// The handler sets the deadlines of each connection itself: a body must keep coming and an answer
// must be taken, but a generation may last as long as the engine lets it.
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

// Options changes what NewHandler makes. The zero value serves.
type Options struct {
	// BaseURL is where callers reach the service, such as https://images.example.com: the addresses
	// in answers begin with it. A slash at its end is dropped. "": what the request's Host says.
	BaseURL string

	// TrustedProxies are the peers whose X-Forwarded-Proto and X-Forwarded-Host count when BaseURL
	// is empty, and whose X-Forwarded-For tells the log where a request comes from. They must set the first
	// two, not pass them on. nil: nobody's do.
	TrustedProxies []netip.Prefix

	// CORSOrigins are the origins whose scripts may call the service, such as
	// https://app.example.com; "*" is any. nil: none.
	CORSOrigins []string

	// RequestsAtOnce is how many requests of one API key can be under way, beyond it ErrOverloaded: each
	// takes memory until its answer is read. 0: 256.
	RequestsAtOnce int

	// Limits bound the keys together with those of other interfaces, such as package openai's; RequestsAtOnce is
	// then theirs. nil: limits of its own.
	Limits *Limits

	// RedirectImages answers a request for an image with an address in the image store itself, if that is an
	// [imagegen.ImageStore] with a method Link: the bytes do not pass through this process.
	RedirectImages bool

	// Log is told of each request, with the route instead of the path: the identifier of an image is
	// a capability. Neither keys nor prompts are logged. nil: silent.
	Log *slog.Logger
}

// NewHandler returns a handler for all routes of the interface. It is safe for concurrent use and
// holds nothing that must be closed. While the engine is draining it goes on to serve what is read.
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

// Limits is what is under way of each API key. Interfaces that are given the same bound their keys together.
type Limits = serving.Limits

// NewLimits returns limits for so many requests of one API key at once; 0: 256.
func NewLimits(requestsAtOnce int) *Limits { return serving.NewLimits(requestsAtOnce) }

// api is the handler.
type api struct {
	engine    *engine.Engine
	redirects bool // of images, to where they are stored
	site      *serving.Site
	router    *httprouter.Router
	catalog   atomic.Pointer[catalog] // as it was last sent
}

// exchange is one request and its answer on the way through the handlers.
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

// ServeHTTP does what every request needs, whatever its route.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{}
	a.site.Begin(&x.Exchange, w, r)
	defer a.site.Finish(&x.Exchange, func() { x.fail(imagegen.ErrInternal) })
	a.router.ServeHTTP(x, x.Request)
}

// RequestID returns the X-Request-Id of the request that ctx belongs to, also in the work that
// goes on after its answer. "": it belongs to none.
func RequestID(ctx context.Context) string { return serving.RequestID(ctx) }

// WithRequestID gives the requests of another handler what those of NewHandler have: X-Request-Id in the
// answer, and a context of which RequestID and NewLogHandler know it.
func WithRequestID(h http.Handler) http.Handler { return serving.WithRequestID(h) }

// NewLogHandler returns a handler that adds request_id to each record whose context has one. Give
// it to the engine's logger too, and a request's lines can be found together. A handler that does
// so already is returned as it is.
func NewLogHandler(h slog.Handler) slog.Handler { return serving.NewLogHandler(h) }

// Watcher is told of requests, see [Watch].
type Watcher = serving.Watcher

// Answer tells a [Watcher] of a request that was answered.
type Answer = serving.Answer

// Watch has watchers told of each request that h answers: for metrics and traces. Those of the handlers of this
// module have their routes; what else h answers has those that WithRoute gives.
func Watch(h http.Handler, watchers ...Watcher) http.Handler { return serving.Watch(h, watchers...) }

// WithRoute gives the requests of a handler of another kind a name for all of them, for [Watch].
func WithRoute(route string, h http.Handler) http.Handler { return serving.WithRoute(route, h) }
