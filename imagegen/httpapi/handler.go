// Package httpapi serves an [engine.Engine] over HTTP, as docs/api.md describes it.
//
//	server := httpapi.NewServer(httpapi.NewHandler(engine, httpapi.Options{Log: log}))
//	server.Addr = "127.0.0.1:8080"
//	err := server.ListenAndServe()
//
// The handler sets the deadlines of each connection itself: it closes a connection on which a body
// or an answer no longer makes progress, but lets a generation take as long as the engine does.
//
// routes.go has the routes; each has a handler in a file of its own. A handler answers, or returns
// the error that is the answer, and errors.go writes all of those. Package internal/serving has what
// other interfaces over the same engine also need: deadlines, keys, limits, request identifiers and
// the log. The engine alone decides about credits, ownership and images.
package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"

	"github.com/julienschmidt/httprouter"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
)

// Options configure NewHandler. The zero value works.
type Options struct {
	// BaseURL is where callers reach the service, such as https://images.example.com: the
	// addresses in answers begin with it. A slash at its end is removed. "": the Host of each
	// request.
	BaseURL string

	// TrustedProxies are the peers whose headers the handler trusts: X-Forwarded-Proto and
	// X-Forwarded-Host if BaseURL is empty, and X-Forwarded-For for the log. These proxies must
	// set the first two themselves, and not pass on those of callers. nil: it trusts no peer.
	TrustedProxies []netip.Prefix

	// CORSOrigins are the origins whose scripts may call the service, such as
	// https://app.example.com; "*" means any. nil: none.
	CORSOrigins []string

	// MaxConcurrentRequests is how many requests of one API key can run at once; beyond it the
	// answer is ErrOverloaded. A request takes memory until its answer was read. 0: 256.
	MaxConcurrentRequests int

	// Limits replaces MaxConcurrentRequests, and can be shared: handlers with the same Limits, such as
	// that of package openai, count the requests of a key together. nil: limits of its own.
	Limits *Limits

	// PersonHeaders are the headers in which requests with a key on behalf of people ([imagegen.Key.Members]) name the
	// person who asks: the first that is there is the identifier, the next a name for display. Without any, the field
	// user names the person. nil: X-OpenWebUI-User-Id, X-OpenWebUI-User-Email.
	PersonHeaders []string

	// Authenticate says whom the program has signed in, such as by a cookie, for requests without an Authorization
	// header. imagegen.ErrMissingKey: nobody. An error that is not an *imagegen.Error is answered with 500. It gets no
	// body, has two seconds, and must be safe for concurrent use; a request that it has not answered by then, or in
	// which it panics, is refused. Of such requests, those that change something must come from a page of this site,
	// see [http.CrossOriginProtection]; CORSOrigins count for keys only. nil: there are only keys.
	Authenticate func(*http.Request) (engine.Caller, error)

	// RedirectImages answers a request for an image with a redirect to an address in the image
	// store itself, so that the bytes do not pass through this process. It requires an
	// [imagegen.ImageLinker]; without one it has no effect.
	RedirectImages bool

	// Log gets a line for each request. It contains the route instead of the path, since the
	// path of an image lets anybody open it. Neither keys nor prompts are logged. nil: silent.
	Log *slog.Logger
}

// NewHandler returns a handler for all routes of the interface. It is safe for concurrent
// use and need not be closed. After Engine.Stop it refuses new work, but still serves reads.
func NewHandler(service *engine.Engine, o Options) http.Handler {
	a := &api{engine: service, redirects: o.RedirectImages, site: serving.NewSite(serving.Site{BaseURL: o.BaseURL,
		TrustedProxies: o.TrustedProxies, CORSOrigins: o.CORSOrigins, PersonHeaders: o.PersonHeaders,
		Limits: cmp.Or(o.Limits, NewLimits(o.MaxConcurrentRequests)), Authenticate: o.Authenticate}, o.Log)}
	a.router = a.routes()
	return a
}

// Limits bound the requests of each API key that run at once, and the memory that those of each user take.
// Handlers with the same Limits count them together. It is safe for concurrent use.
type Limits = serving.Limits

// NewLimits returns limits for at most maxConcurrent requests of one API key at once; 0: 256.
func NewLimits(maxConcurrent int) *Limits { return serving.NewLimits(maxConcurrent) }

// api is the handler. Only catalogs change after it was made.
type api struct {
	engine    *engine.Engine
	redirects bool // requests for images are redirected to where they are stored
	site      *serving.Site
	router    *httprouter.Router
	catalogs  sync.Map // account type → *catalog, as it was last encoded
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
	if serving.HidesSlash(r) {
		x.fail(imagegen.ErrNotFound)
		return
	}
	a.router.ServeHTTP(x, x.Request)
}

// RequestID returns the X-Request-Id of the request that ctx belongs to; "" if there is none. It
// also works for the context of work that continues after the answer.
func RequestID(ctx context.Context) string { return serving.RequestID(ctx) }

// WithRequestID returns a handler that gives each request of h what those of NewHandler have: an
// X-Request-Id in the answer, and a context for RequestID and NewLogHandler.
func WithRequestID(h http.Handler) http.Handler { return serving.WithRequestID(h) }

// WithDeadlines returns a handler that gives the answers of h the deadlines of those of NewHandler, so that
// a peer that neither sends the body that it announced nor takes the answer cannot hold its connection. h
// must read no body and must call WriteHeader.
func WithDeadlines(h http.Handler) http.Handler { return serving.WithDeadlines(h) }

// NewLogHandler returns a handler that passes records to h, and adds request_id to those whose
// context belongs to a request. Use it for the engine's logger too, so that all lines about a
// request can be found. If h already does this, NewLogHandler returns h.
func NewLogHandler(h slog.Handler) slog.Handler { return serving.NewLogHandler(h) }

// Watcher is called for each request, see Watch. It has two methods, which must be quick and safe for
// concurrent use:
//
//	// Begin is called when a request begins. It returns the context for the request: its own, or one derived
//	// from it.
//	Begin(r *http.Request) context.Context
//
//	// End is called after the request was answered, also if its handler panicked. ctx is that of Begin.
//	End(ctx context.Context, a Answer)
type Watcher = serving.Watcher

// Answer describes an answered request to a Watcher: its Method, its Route, the Status of the answer (0: the
// connection was cut before there was one) and the Duration. No caller can choose these values freely, so they
// can label metrics.
type Answer = serving.Answer

// Watch returns a handler that calls watchers for each request that h answers, for metrics and
// traces. Each gets the context of the one before. The handlers of this module set
// Answer.Route; for others, use WithRoute.
func Watch(h http.Handler, watchers ...Watcher) http.Handler { return serving.Watch(h, watchers...) }

// WithRoute returns a handler that sets Answer.Route for all requests of h. It has an effect only
// below Watch.
func WithRoute(route string, h http.Handler) http.Handler { return serving.WithRoute(route, h) }
