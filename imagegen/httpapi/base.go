package httpapi

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// findBase sets what the addresses in the answer begin with.
func (a *api) findBase(x *exchange) error {
	if x.base = a.options.BaseURL; x.base != "" {
		return nil
	}
	scheme, host := "http", x.request.Host
	if x.request.TLS != nil {
		scheme = "https"
	}
	if a.trusts(x.request.RemoteAddr) {
		scheme, host = forwarded(x.request.Header, scheme, host)
	}
	if scheme != "http" && scheme != "https" || !isHost(host) {
		return imagegen.Invalid("the Host header is no host name with an optional port; got %s", shown(host))
	}
	x.base = scheme + "://" + host
	return nil
}

func (a *api) trusts(peer string) bool {
	if len(a.options.TrustedProxies) == 0 {
		return false
	}
	p, err := netip.ParseAddrPort(peer)
	addr := p.Addr().Unmap()
	return err == nil && slices.ContainsFunc(a.options.TrustedProxies, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// forwarded reads what a trusted proxy says. Of several values the last is the proxy's own.
func forwarded(h http.Header, scheme, host string) (string, string) {
	if s := lastValue(h, "X-Forwarded-Proto"); s != "" {
		scheme = strings.ToLower(s)
	}
	if s := lastValue(h, "X-Forwarded-Host"); s != "" {
		host = s
	}
	return scheme, host
}

func lastValue(h http.Header, name string) string {
	all := strings.Join(h.Values(name), ",")
	return strings.TrimSpace(all[strings.LastIndexByte(all, ',')+1:])
}

// isHost tells a host with an optional port from what would make an address mean something else.
func isHost(s string) bool {
	if s == "" || len(s) > 255 || strings.Trim(s, hostCharacters) != "" {
		return false
	}
	// Nearly every host is a name with perhaps a port: that needs no parser, which would allocate.
	if name, port, _ := strings.Cut(s, ":"); name != "" && !strings.ContainsAny(name, "[]") && strings.Trim(port, "0123456789") == "" {
		return true
	}
	u, err := url.Parse("//" + s)
	return err == nil && u.Host == s && u.Hostname() != ""
}

const hostCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:[]"
