package console

import (
	"net/http"
	"net/netip"

	"github.com/imagegend/imagegend/internal/clientaddr"
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
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// address is where a request comes from, for the limit on failures. The zero address: nobody knows.
func (c *Console) address(r *http.Request) netip.Addr {
	return clientaddr.Of(r, c.cfg.TrustedProxies)
}
