package console

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// policy lets a page load what this host serves, and nothing that stands in the page itself runs or styles.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// secure sets what every answer carries.
func (c *Console) secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	// No-referrer would make the Origin of forms null, and that of another site is indeed another.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if c.cfg.Secure { // elsewhere browsers complain that they ignore it
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// address is where a request comes from, for the limit on failures: the last address that a trusted
// proxy was told by one that is not. The zero address: nobody knows.
func (c *Console) address(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{} // a unix socket
	}
	at := peer.Addr()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !c.trusts(at) {
			break
		}
		before, ok := hopAddress(strings.TrimSpace(hop))
		if !ok {
			break
		}
		at = before
	}
	return at
}

// hopAddress reads what a proxy was told: an address or, as some proxies write it, one with its port.
func hopAddress(hop string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(strings.Trim(hop, "[]")); err == nil {
		return a, true
	}
	a, err := netip.ParseAddrPort(hop)
	return a.Addr(), err == nil
}

func (c *Console) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(c.cfg.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) })
}
