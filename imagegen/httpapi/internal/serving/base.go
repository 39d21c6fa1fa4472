package serving

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// FindBase sets what the addresses in the answer begin with.
func (s *Site) FindBase(x *Exchange) error {
	if x.Base = s.BaseURL; x.Base != "" {
		return nil
	}
	scheme, host, named := "http", x.Request.Host, "Host"
	if x.Request.TLS != nil {
		scheme = "https"
	}
	if s.trusts(x.Request.RemoteAddr) {
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
		return imagegen.Invalid("the %s header is no host name with an optional port; got %s", named, Shown(host))
	}
	x.Base = scheme + "://" + host
	return nil
}

func (s *Site) trusts(peer string) bool {
	if len(s.TrustedProxies) == 0 {
		return false
	}
	p, err := netip.ParseAddrPort(peer)
	addr := p.Addr().Unmap()
	return err == nil && slices.ContainsFunc(s.TrustedProxies, func(n netip.Prefix) bool { return n.Contains(addr) })
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
