// Package clientaddr finds out where a request comes from when proxies stand in between.
package clientaddr

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Of is where a request comes from: the last address in X-Forwarded-For that a trusted proxy was told by
// one that is not; without one, the peer's. The zero address: nobody knows, as on a unix socket.
func Of(r *http.Request, proxies []netip.Prefix) netip.Addr {
	at := Peer(r.RemoteAddr)
	if !at.IsValid() || !Among(at, proxies) {
		return at
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		before, ok := parse(strings.TrimSpace(hop))
		if !ok {
			break
		}
		if at = before; !Among(at, proxies) {
			break
		}
	}
	return at
}

// Peer reads the address of a peer, as net/http and net tell it; the zero address, if it has none.
func Peer(remote string) netip.Addr {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap()
}

// Among reports whether an address lies in one of the networks.
func Among(a netip.Addr, networks []netip.Prefix) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) })
}

// Network is what one customer of a provider has: an IPv4 address or a /64.
func Network(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		return netip.PrefixFrom(a, 64).Masked().Addr()
	}
	return a
}

// parse reads what a proxy was told: an address or, as some proxies write it, one with its port.
func parse(hop string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(strings.Trim(hop, "[]")); err == nil {
		return a, true
	}
	a, err := netip.ParseAddrPort(hop)
	return a.Addr(), err == nil
}
