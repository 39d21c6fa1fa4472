// Package clientaddr finds out where a request comes from when proxies are in between. Only what a trusted proxy says
// is believed: a caller can put anything into X-Forwarded-For.
package clientaddr

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Of returns where a request comes from. If the peer is a trusted proxy, that is the last address in X-Forwarded-For
// that is not of a trusted proxy itself, or, where the header breaks off or cannot be read, the last proxy. Else it
// is the peer. The zero address means that nobody knows, as on a unix socket.
func Of(r *http.Request, proxies []netip.Prefix) netip.Addr {
	at := Peer(r.RemoteAddr)
	if !at.IsValid() || !Among(at, proxies) {
		return at
	}
	// Each proxy appends the address that it was called from. So the list is read from its end: what a caller has
	// written is in front of what the first trusted proxy appended.
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

// Peer reads the address of a peer as net/http and net write it, with a port. The zero address if there is none. IPv4
// in IPv6 is returned as IPv4.
func Peer(remote string) netip.Addr {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap()
}

// Among reports whether an address is in one of the networks. The networks must not be IPv4 in IPv6.
func Among(a netip.Addr, networks []netip.Prefix) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) })
}

// Network returns what one customer of a network provider has, for limits: an IPv4 address, or the /64 of an IPv6
// address, within which a single customer can use any address.
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
