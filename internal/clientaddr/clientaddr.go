// Package clientaddr finds out where a request comes from when proxies are in between. Only what a trusted proxy says
// is believed: a caller can put anything into X-Forwarded-For.
package clientaddr

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Of returns where a request comes from. proxies are the networks of the trusted proxies. If the
// peer is not a trusted proxy, Of returns the peer. Otherwise it reads X-Forwarded-For from its
// end and returns the first address that is not of a trusted proxy. If there is none before the
// list ends, or before an element that is not an address, it returns the last trusted proxy that it
// has read, or the peer. The zero address means that the origin is not known, as on a unix socket.
func Of(r *http.Request, proxies []netip.Prefix) netip.Addr {
	at := Peer(r.RemoteAddr)
	if !at.IsValid() || !Among(at, proxies) {
		return at
	}
	// Each proxy appends the address that called it. So whatever the caller has written itself comes before what the
	// first trusted proxy appended, and the list is read from its end.
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

// Peer reads the address of a peer, with a port, as in http.Request.RemoteAddr. It returns the zero address if there
// is none, and IPv4 in IPv6 as IPv4.
func Peer(remote string) netip.Addr {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap()
}

// Among reports whether an address is in one of the networks. An IPv4 address in IPv6 counts as IPv4; the networks
// must not be written as IPv4 in IPv6.
func Among(a netip.Addr, networks []netip.Prefix) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) })
}

// Network returns the address by which to limit a caller: an IPv4 address as it is, or the first of the /64 of an
// IPv6 address, since a single customer of a network provider can usually take any address within that.
func Network(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		return netip.PrefixFrom(a, 64).Masked().Addr()
	}
	return a
}

// parse reads an element of X-Forwarded-For: an address or, as some proxies write it, an address with a port.
func parse(hop string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(strings.Trim(hop, "[]")); err == nil {
		return a, true
	}
	a, err := netip.ParseAddrPort(hop)
	return a.Addr(), err == nil
}
