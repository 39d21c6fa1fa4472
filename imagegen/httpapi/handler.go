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
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"

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

	// Log is told of each request, with the route instead of the path: the identifier of an image is
	// a capability. Neither keys nor prompts are logged. nil: silent.
	Log *slog.Logger
}

// NewHandler returns a handler for all routes of the interface. It is safe for concurrent use and
// holds nothing that must be closed. While the engine is draining it goes on to serve what is read.
func NewHandler(service *engine.Engine, o Options) http.Handler {
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	log := NewLogHandler(o.Log.Handler())
	a := &api{engine: service, options: o, log: slog.New(log), access: slog.New(log.(logHandler).Handler), intake: newIntake(o)}
	a.router = a.routes()
	return a
}

// api is the handler.
type api struct {
	engine  *engine.Engine
	options Options
	log     *slog.Logger
	access  *slog.Logger // without request_id: its lines carry their own
	router  *httprouter.Router
	catalog atomic.Pointer[catalog] // as it was last sent
	intake  intake
}

// ServeHTTP does what every request needs, whatever its route.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := newExchange(w, r)
	x.set("X-Request-Id", x.ctx.id)
	x.set("X-Content-Type-Options", "nosniff")
	if r.ProtoMajor == 1 && r.TransferEncoding != nil {
		// A length may have stood beside the chunks, which net/http does not tell. Where a proxy went by
		// the length, what follows on this connection is not what it took for a request.
		x.Header().Set("Connection", "close")
	}
	defer a.finish(x)
	a.allowOrigin(x)
	a.router.ServeHTTP(x, x.request)
}

// finish ends a request, also one whose handler panicked. An answer that had begun is cut off, so
// that nobody takes it for a whole one.
func (a *api) finish(x *exchange) {
	p := recover()
	if p != nil && p != http.ErrAbortHandler {
		a.log.ErrorContext(x.ctx, "a handler panicked", "panic", p, "stack", string(debug.Stack()))
		if x.status == 0 {
			x.fail(imagegen.ErrInternal)
			p = nil
		} else {
			p = http.ErrAbortHandler
		}
	}
	a.logRequest(x)
	if p != nil {
		panic(p)
	}
}
