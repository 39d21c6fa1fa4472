package doctor

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
)

// Network compares the address to listen on, the public one and the trusted proxies with each other. It sends
// nothing.
func Network(s config.Server) []Finding {
	return []Finding{baseURL(s), proxies(s)}
}

// Addresses checks whether the service could listen on its addresses, by listening on each for a moment. If the server
// runs, it holds them, and nothing is tried.
func Addresses(s config.Server, running bool) []Finding {
	all := []Finding{address("address", s.Addr, "--addr", running)}
	if s.OpsAddr != "" {
		all = append(all, address("ops address", s.OpsAddr, "--ops-addr", running))
	}
	return all
}

// address checks one address, which a flag names.
func address(check, addr, flag string, running bool) Finding {
	f := ok(check, "the service can listen on %s", addr)
	if running {
		return f.says("%s was not tried, since the server runs", addr)
	}
	// Nothing but listening tells whether the port is free and this user may have it.
	l, err := net.Listen("tcp", addr)
	if err == nil {
		l.Close()
		return f
	}
	f = f.says("%v", err)
	if errors.Is(err, syscall.EADDRINUSE) {
		return f.fails("end what listens there, or choose another address with " + flag)
	}
	return f.fails("choose an address that this machine has and this user may listen on with " + flag)
}

// baseURL looks at the address that answers name: without one a caller's Host decides what the addresses of images
// are.
func baseURL(s config.Server) Finding {
	f := ok("base url", "%s", s.BaseURL)
	public, _ := url.Parse(s.BaseURL)
	switch local := config.OnThisMachine(s.Addr); {
	// Callers on this machine send a Host that leads back here.
	case s.BaseURL == "" && local:
		return f.says("none: the service is reached on this machine only")
	case s.BaseURL == "":
		return f.says("none: the addresses of images follow the Host that each caller sends").
			but("name the public address with --base-url")
	case public != nil && public.Scheme == "http" && !config.OnThisMachine(public.Host):
		f.Detail += ": keys and passwords travel in the clear"
		return f.but("put a proxy with TLS in front, and give its https address as --base-url")
	}
	return f
}

// proxies looks at whose forwarded headers count.
func proxies(s config.Server) Finding {
	f := ok("proxy headers", "those of %s count", strings.Join(lists.Each(s.TrustedProxies, netip.Prefix.String), ", "))
	// A network of 0 bits holds every address, so any caller could choose the address under which it is limited and
	// logged.
	for _, p := range s.TrustedProxies {
		if p.Bits() == 0 {
			return f.says("those of everybody count: each caller can claim any address").
				fails("name the address of the proxy alone with --trusted-proxy, in place of " + p.String())
		}
	}
	switch {
	case len(s.TrustedProxies) > 0:
	// Somebody speaks TLS, and it is not this service.
	case strings.HasPrefix(s.BaseURL, "https://") && s.TLSCert == "" && len(s.ACMEDomains) == 0:
		return f.says("those of nobody count, though https comes from a proxy: to the bounds and the log all callers have its address").
			but("name the address from which the proxy calls with --trusted-proxy, such as 127.0.0.1")
	default:
		return f.says("those of nobody count: callers have the address from which they connect")
	}
	return f
}
