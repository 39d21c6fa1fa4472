// Package guard makes HTTP transports that connect to no address that a request from outside must not lead to, such as
// that at which a cloud tells a machine its credentials.
package guard

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// idleTimeout is how long a connection is kept idle. Servers usually keep theirs longer: if the server closes the
// connection just when a request is sent, nobody knows whether the request arrived.
const idleTimeout = 30 * time.Second

// maxIdle is how many idle connections are kept to each host: as many as calls usually run at once, so that each
// finds a connection that an earlier one has left.
const maxIdle = 64

// Transport returns a transport that connects only to IP addresses that checkAddress
// permits: public ones and, if private, those of private networks. It checks after names were resolved, so it does not
// matter which name led to an address. It uses no proxy. There is no time limit for an answer, since images take
// minutes. The error of a forbidden address is an *AddressError.
func Transport(private bool) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		return checkAddress(address, private)
	}}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConnsPerHost:    maxIdle,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// secrets are addresses at which clouds tell a machine its credentials, and which the lists below would take for
// private or public ones: those of AWS, Google, Oracle, Scaleway, Alibaba and Azure, in this order.
var secrets = prefixes("fd00:ec2::/32", "fd20:ce::/32", "fd00:c1::a9fe:a9fe/128", "fd00:42::42/128",
	"100.100.100.200/32", "168.63.129.16/32")

// own are the networks that only a private upstream may be in: loopback, private (RFC 1918),
// shared (RFC 6598) and unique local (RFC 4193).
var own = prefixes("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "::1/128",
	"fc00::/7")

// special are the other networks within 0.0.0.0/0 and 2000::/3 that hold no public hosts, from the registries of
// special-purpose addresses of IANA (RFC 6890): link-local (where clouds keep their metadata), multicast, reserved,
// for documentation and benchmarks, or with an IPv4 address inside, which could be any of these.
var special = prefixes("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16",
	"3fff::/20")

// global holds all public addresses of IPv6 (IANA, Internet Protocol Version 6 Address Space).
// NAT64, IPv4-mapped and link-local ones are outside.
var global = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) []netip.Prefix {
	ps := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		ps[i] = netip.MustParsePrefix(text)
	}
	return ps
}

// AddressError says that an address is not permitted.
type AddressError struct{ addr netip.Addr }

func (e *AddressError) Error() string {
	return fmt.Sprintf("%v is not a public address; of others only those of private networks are permitted, "+
		"for an upstream that is configured as private", e.addr)
}

// checkAddress returns an *AddressError if an IP address with a port is not permitted. An IPv4
// address in IPv6 is judged as IPv4.
func checkAddress(address string, private bool) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if addr := ap.Addr().Unmap(); !permitted(addr, private) {
		return &AddressError{addr}
	}
	return nil
}

func permitted(a netip.Addr, private bool) bool {
	within := func(p netip.Prefix) bool { return p.Contains(a) }
	switch {
	case a.Zone() != "", slices.ContainsFunc(secrets, within):
		return false
	case slices.ContainsFunc(own, within):
		return private
	case slices.ContainsFunc(special, within):
		return false
	}
	return a.Is4() || global.Contains(a)
}
