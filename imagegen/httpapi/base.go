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
	scheme, host, named := "http", x.request.Host, "Host"
	if x.request.TLS != nil {
		scheme = "https"
	}
	if a.trusts(x.request.RemoteAddr) {
		if s := lastValue(x.request.Header, "X-Forwarded-Proto"); s != "" {
			scheme = strings.ToLower(s)
		}
		if s := lastValue(x.request.Header, "X-Forwarded-Host"); s != "" {
			host, named = s, "X-Forwarded-Host"
		}
	}
	if scheme != "http" && scheme != "https" {
		return imagegen.Invalid("the X-Forwarded-Proto header must be http or https; got %s", shown(scheme))
	}
	if !isHost(host) {
		return imagegen.Invalid("the %s header is no host name with an optional port; got %s", named, shown(host))
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

// lastValue is what the proxy itself says: its value stands behind those that it was sent.
func lastValue(h http.Header, name string) string {
	all := strings.Join(h.Values(name), ",")
	return strings.TrimSpace(all[strings.LastIndexByte(all, ',')+1:])
}

// isHost tells a host with an optional port from what would make an address mean something else.
func isHost(s string) bool {
	if s == "" || len(s) > 255 || strings.Trim(s, hostCharacters) != "" {
		return false
	}
	if s[0] != '[' { // nearly every host is a name with perhaps a port: that needs no parser, which would allocate
		name, port, _ := strings.Cut(s, ":")
		return name != "" && !strings.ContainsAny(name, "[]") && strings.Trim(port, "0123456789") == ""
	}
	u, err := url.Parse("//" + s)
	return err == nil && u.Host == s && u.Hostname() != ""
}

const hostCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:[]"
