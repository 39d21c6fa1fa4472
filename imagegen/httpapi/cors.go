package httpapi

import (
	"net/http"
	"slices"
)

// allowOrigin lets scripts of configured origins read the answer.
func (a *api) allowOrigin(x *exchange) {
	if len(a.options.CORSOrigins) == 0 {
		return
	}
	h := x.Header()
	h.Add("Vary", "Origin")
	origin := x.request.Header.Get("Origin")
	if origin == "" || !slices.Contains(a.options.CORSOrigins, origin) && !slices.Contains(a.options.CORSOrigins, "*") {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "ETag, Idempotent-Replayed, Location, Retry-After, X-Request-Id, X-Should-Retry")
}

// preflight answers OPTIONS; the router has set Allow.
func (a *api) preflight(x *exchange) error {
	h := x.Header()
	if h.Get("Access-Control-Allow-Origin") != "" && x.request.Header.Get("Access-Control-Request-Method") != "" {
		h.Set("Access-Control-Allow-Methods", h.Get("Allow"))
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, X-Request-Id")
		h.Set("Access-Control-Max-Age", "600")
	}
	h.Set("Cache-Control", "no-store")
	x.WriteHeader(http.StatusNoContent)
	return nil
}
