package upstream

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// idleTimeout is shorter than servers' own usually is: a request that meets a connection which the
// server is just closing has an unknown outcome.
const idleTimeout = 30 * time.Second

// maxIdle is as many calls as one upstream is usually asked at once: each finds a connection that an earlier one left.
const maxIdle = 64

// newTransport dials no address that the guard forbids, whatever name led to it. How long an
// answer takes is left to the context: images take minutes.
func newTransport(private bool) *http.Transport {
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

// secrets are the addresses at which clouds tell a machine their credentials, and which would pass for
// somebody's own network or for a public host: those of AWS, Google, Oracle, Scaleway, Alibaba and Azure.
var secrets = prefixes("fd00:ec2::/32", "fd20:ce::/32", "fd00:c1::a9fe:a9fe/128", "fd00:42::42/128", "100.100.100.200/32", "168.63.129.16/32")

// own are the networks that only a private upstream may be in.
var own = prefixes("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "::1/128", "fc00::/7")

// special are the networks of 0.0.0.0/0 and 2000::/3 that are no public hosts': link-local (where
// clouds keep their metadata), multicast, reserved, for documentation, or with an IPv4 address
// inside, which could be any of these.
var special = prefixes("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

// global holds all public addresses of IPv6. NAT64, IPv4-mapped and link-local ones lie outside.
var global = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) []netip.Prefix {
	ps := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		ps[i] = netip.MustParsePrefix(text)
	}
	return ps
}

// addressError says that an address is not dialled.
type addressError struct{ addr netip.Addr }

func (e *addressError) Error() string {
	return fmt.Sprintf("%v is no public address; of others only those of private networks are permitted, for an upstream that is configured as private", e.addr)
}

func checkAddress(address string, private bool) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if addr := ap.Addr().Unmap(); !permitted(addr, private) {
		return &addressError{addr}
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
