package serving

import (
	"cmp"
	"net/http"
	"slices"
)

// NativeHeaders are those that scripts may send to the native interface.
const NativeHeaders = "Authorization, Content-Type, Idempotency-Key, X-Request-Id"

// allowOrigin lets scripts of configured origins read the answer.
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
	h.Set("Access-Control-Expose-Headers", "ETag, Idempotent-Replayed, Location, Retry-After, X-Request-Id, X-Should-Retry")
}

// Preflight answers OPTIONS; Allow is set already.
func (s *Site) Preflight(x *Exchange) error {
	h := x.Header()
	if h.Get("Access-Control-Allow-Origin") != "" && x.Request.Header.Get("Access-Control-Request-Method") != "" {
		h.Set("Access-Control-Allow-Methods", h.Get("Allow"))
		h.Set("Access-Control-Allow-Headers", cmp.Or(s.CORSHeaders, NativeHeaders))
		h.Set("Access-Control-Max-Age", "600")
	}
	h.Set("Cache-Control", "no-store")
	x.WriteHeader(http.StatusNoContent)
	return nil
}
