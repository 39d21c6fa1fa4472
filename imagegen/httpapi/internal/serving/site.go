// Package serving is what the HTTP interfaces of the service have in common: requests with an identifier, deadlines
// that follow the bytes, keys, bounds on what one key may have under way, and the log.
package serving

import (
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
)

// Site is what holds for all requests of an interface. See NewSite.
type Site struct {
	BaseURL        string
	TrustedProxies []netip.Prefix
	CORSOrigins    []string
	CORSHeaders    string // that scripts may send; "": those of the native interface
	Limits         *Limits

	log    *slog.Logger
	access *slog.Logger // without request_id: its lines carry their own
}

// NewSite returns s, ready. log nil: silent.
func NewSite(s Site, log *slog.Logger) *Site {
	s.BaseURL = strings.TrimRight(s.BaseURL, "/")
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	h := NewLogHandler(log.Handler())
	s.log, s.access = slog.New(h), slog.New(h.(logHandler).Handler)
	if s.Limits == nil {
		s.Limits = NewLimits(0)
	}
	return &s
}

// Begin does what every request needs, whatever its route. Finish is to be deferred.
func (s *Site) Begin(x *Exchange, w http.ResponseWriter, r *http.Request) {
	x.begin(w, r)
	x.Set("X-Request-Id", x.Ctx.id)
	x.Set("X-Content-Type-Options", "nosniff")
	if r.ProtoMajor == 1 && r.TransferEncoding != nil {
		// A length may have stood beside the chunks, which net/http does not tell. Where a proxy went by
		// the length, what follows on this connection is not what it took for a request.
		x.Header().Set("Connection", "close")
	}
	s.allowOrigin(x)
}

// Finish ends a request, also one whose handler panicked: then fail answers that the service failed. An answer that
// had begun is cut off, so that nobody takes it for a whole one.
func (s *Site) Finish(x *Exchange, fail func()) {
	p := recover()
	if p != nil && p != http.ErrAbortHandler {
		s.log.ErrorContext(x.Ctx, "a handler panicked", "panic", p, "stack", string(debug.Stack()))
		if x.Status == 0 {
			fail()
			p = nil
		} else {
			p = http.ErrAbortHandler
		}
	}
	tellRoute(x.ResponseWriter, x.Route)
	s.logRequest(x)
	if p != nil {
		panic(p)
	}
}
