package doctor

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
)

// Network holds the address to listen on, the public one and the proxies against each other.
func Network(s config.Server) []Finding {
	return []Finding{baseURL(s), proxies(s)}
}

// Addresses tells whether the service could listen where it is to, for callers and for operators, unless it runs
// already.
func Addresses(s config.Server, running bool) []Finding {
	all := []Finding{address("address", s.Addr, "--addr", running)}
	if s.OpsAddr != "" {
		all = append(all, address("ops address", s.OpsAddr, "--ops-addr", running))
	}
	return all
}

func address(check, addr, flag string, running bool) Finding {
	f := ok(check, "%s can be listened on", addr)
	if running {
		f.Detail = addr + " was not tried, since the server runs"
		return f
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		f.Detail = err.Error()
		return f.fails("end what listens there, or choose another address with " + flag)
	}
	l.Close()
	return f
}

// baseURL looks at the address that answers name.
func baseURL(s config.Server) Finding {
	f := ok("base url", "%s", s.BaseURL)
	public, _ := url.Parse(s.BaseURL)
	switch local := isLocal(s.Addr); {
	case s.BaseURL == "" && local:
		f.Detail = "none: the service is reached on this machine only"
	case s.BaseURL == "":
		f.Detail = "none: the addresses of images follow the Host that each caller sends"
		return f.but("name the public address with --base-url")
	case public != nil && public.Scheme == "http" && !isLocal(public.Host):
		f.Detail += ": keys and passwords travel in clear"
		return f.but("put a proxy with TLS in front, and give its https address as --base-url")
	}
	return f
}

// proxies looks at whose forwarded headers count.
func proxies(s config.Server) Finding {
	f := ok("proxy headers", "those of %s count", list(s.TrustedProxies))
	for _, p := range s.TrustedProxies {
		if p.Bits() == 0 {
			f.Detail = "those of everybody count: each caller can claim any address"
			return f.fails("name the address of the proxy alone with --trusted-proxy, in place of " + p.String())
		}
	}
	switch {
	case len(s.TrustedProxies) > 0:
	case strings.HasPrefix(s.BaseURL, "https://") && s.TLSCert == "" && len(s.ACMEDomains) == 0:
		f.Detail = "those of nobody count, though https comes from a proxy: to the bounds and the log all callers have its address"
		return f.but("name the address from which the proxy calls with --trusted-proxy, such as 127.0.0.1")
	default:
		f.Detail = "those of nobody count: callers have the address from which they connect"
	}
	return f
}

func list(proxies []netip.Prefix) string {
	var all []string
	for _, p := range proxies {
		all = append(all, p.String())
	}
	return strings.Join(all, ", ")
}

// isLocal reports whether an address with a port, or a host, is this machine's alone.
func isLocal(address string) bool {
	host := strings.Trim((&url.URL{Host: address}).Hostname(), "[]")
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}
