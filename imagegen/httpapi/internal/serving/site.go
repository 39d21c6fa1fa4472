// Package serving is what the HTTP interfaces of the service have in common: requests with an
// identifier, deadlines that follow the bytes, keys, bounds on what one key may have under way,
// and the log.
//
// An interface has a Site, which holds for all of its requests, and an Exchange for each request:
//
//	site.Begin(&x, w, r)
//	defer site.Finish(&x, func() { fail(&x, imagegen.ErrInternal) })
//
// Between the two it reads the body through Exchange.Body or a Form, and answers with
// Exchange.JSON, Send or Fail. Which paths there are, and what a body means, is its own affair.
package serving

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/internal/clientaddr"
	"github.com/imagegend/imagegend/internal/httpguard"
)

// Site is what holds for all requests of an interface. See NewSite. It is safe for concurrent use.
type Site struct {
	BaseURL        string
	TrustedProxies []netip.Prefix
	CORSOrigins    []string
	Limits         *Limits
	PersonHeaders  []string // nil: those of Open WebUI
	// Authenticate says whom the host has signed in, for requests without a key. nil: nobody.
	Authenticate func(*http.Request) (account.Caller, error)

	guard  *http.CrossOriginProtection
	log    *slog.Logger
	access *slog.Logger // without request_id: its lines carry their own
}

// NewSite returns s, ready for use. Limits nil: limits of its own. log nil: silent.
func NewSite(s Site, log *slog.Logger) *Site {
	s.BaseURL = strings.TrimRight(s.BaseURL, "/")
	s.guard = http.NewCrossOriginProtection()
	if u, err := url.Parse(s.BaseURL); err == nil && s.BaseURL != "" {
		_ = s.guard.AddTrustedOrigin(u.Scheme + "://" + u.Host) // a proxy may send another Host; an error adds none
	}
	h := NewLogHandler(cmp.Or(log, slog.New(slog.DiscardHandler)).Handler())
	s.log, s.access = slog.New(h), slog.New(h.(logHandler).Handler)
	s.Limits = cmp.Or(s.Limits, NewLimits(0))
	if s.PersonHeaders == nil {
		s.PersonHeaders = defaultPersonHeaders()
	}
	return &s
}

// Begin does what every request needs, whatever its route. x must be zero, except for its Route. The
// caller defers Finish.
func (s *Site) Begin(x *Exchange, w http.ResponseWriter, r *http.Request) {
	x.prepare(w, r)
	if p := person(r.Header, s.PersonHeaders); p != (account.Person{}) {
		x.Ctx = account.WithPerson(x.Ctx, p)
	}
	x.Header().Set("X-Request-Id", RequestID(x.Ctx))
	httpguard.Begin(x, r)
	s.allowOrigin(x)
}

// Finish ends a request, also one whose handler panicked: then fail answers that the service failed,
// or an answer that had begun is cut off, so that nobody takes it for a whole one. It must be
// deferred directly, since it calls recover. It writes the line of the request to the log, and then lets the peer send
// the rest of a body that was answered before its end.
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
	x.linger()
}

// FindBase sets what the addresses in the answer begin with: BaseURL or, without it, what the request
// says, by the headers of trusted proxies or the Host. ErrInvalidRequest: that is not a host, or not a
// scheme, and would make the addresses lead elsewhere.
func (s *Site) FindBase(x *Exchange) error {
	if x.Base = s.BaseURL; x.Base != "" {
		return nil
	}
	scheme, host, named := "http", x.Request.Host, "Host"
	if x.Request.TLS != nil {
		scheme = "https"
	}
	if clientaddr.Among(clientaddr.Peer(x.Request.RemoteAddr), s.TrustedProxies) {
		if v := lastValue(x.Request.Header, "X-Forwarded-Proto"); v != "" {
			scheme = strings.ToLower(v)
		}
		if v := lastValue(x.Request.Header, "X-Forwarded-Host"); v != "" {
			host, named = v, "X-Forwarded-Host"
		}
	}
	if scheme != "http" && scheme != "https" {
		return imagegen.Invalid("the X-Forwarded-Proto header must be http or https; got %s", Shown(scheme))
	}
	if !isHost(host) {
		return imagegen.Invalid("the %s header is not a host name with an optional port; got %s", named, Shown(host))
	}
	x.Base = scheme + "://" + host
	return nil
}

// HidesSlash reports whether a path has an escaped slash, which is part of a name and does not separate two.
func HidesSlash(r *http.Request) bool { return strings.Contains(strings.ToLower(r.URL.RawPath), "%2f") }

// lastValue returns the last value of a header, which is what the nearest proxy itself says: proxies
// append theirs to those that they were sent.
func lastValue(h http.Header, name string) string {
	all := strings.Join(h.Values(name), ",")
	return strings.TrimSpace(all[strings.LastIndexByte(all, ',')+1:])
}

// isHost reports whether s is a host with an optional port, and nothing that would give an address
// another meaning, such as a path or a user.
func isHost(s string) bool {
	if s == "" || len(s) > 255 || strings.Trim(s, hostCharacters) != "" {
		return false
	}
	if s[0] != '[' { // nearly every host: no parser is needed, which would allocate
		name, port, _ := strings.Cut(s, ":")
		return name != "" && !strings.ContainsAny(name, "[]") && strings.Trim(port, "0123456789") == ""
	}
	u, err := url.Parse("//" + s)
	return err == nil && u.Host == s && u.Hostname() != ""
}

const hostCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:[]"

// allowOrigin lets scripts of configured origins read the answer. It names the origin and never "*",
// so the answer varies by Origin even for a caller that sends none.
func (s *Site) allowOrigin(x *Exchange) {
	if len(s.CORSOrigins) == 0 {
		return
	}
	h := x.Header()
	h.Add("Vary", "Origin")
	origin := x.Request.Header.Get("Origin")
	if origin == "" || !slices.Contains(s.CORSOrigins, origin) && !slices.Contains(s.CORSOrigins, "*") {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers",
		"Content-Range, ETag, Idempotent-Replayed, Location, Preference-Applied, Retry-After, X-Request-Id, X-Should-Retry")
}

// Preflight answers OPTIONS. The caller has set Allow, which scripts of an allowed origin may use. They may send
// whatever headers they ask for: clients add new ones with each version, and a browser sends none that grants access
// by itself, since credentials are never allowed.
func (s *Site) Preflight(x *Exchange) error {
	h := x.Header()
	if h.Get("Access-Control-Allow-Origin") != "" && x.Request.Header.Get("Access-Control-Request-Method") != "" {
		h.Set("Access-Control-Allow-Methods", h.Get("Allow"))
		if asked := x.Request.Header.Values("Access-Control-Request-Headers"); len(asked) > 0 {
			h.Set("Access-Control-Allow-Headers", strings.Join(asked, ", "))
		}
		h.Set("Access-Control-Max-Age", "600")
	}
	h.Set("Cache-Control", "no-store")
	x.WriteHeader(http.StatusNoContent)
	return nil
}
