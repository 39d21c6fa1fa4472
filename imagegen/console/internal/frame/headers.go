package frame

import (
	"net/http"
	"net/netip"

	"github.com/imagegend/imagegend/internal/clientaddr"
)

// policy is the Content-Security-Policy of all answers. A page can load only what this host serves. Nothing in the
// page itself runs as a script or counts as a style, so text that was injected into it is harmless. data: and blob:
// are for previews of images.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// setHeaders sets the headers that every answer has.
func (f *Frame) setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	// With no-referrer, browsers would send the Origin of forms as null, which could not be distinguished from a
	// foreign one.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if f.Secure { // over plain HTTP browsers ignore these, with a warning
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// ClientAddress is the client's address, for the limits on sign-ins, the audit trail and the log. The zero address: it
// is unknown, as on a unix socket.
func (p *Page) ClientAddress() netip.Addr { return p.clientAddress(p.Request) }

func (f *Frame) clientAddress(r *http.Request) netip.Addr { return clientaddr.Of(r, f.TrustedProxies) }
