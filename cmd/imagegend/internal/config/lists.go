package config

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// headerName is the form of the names of headers in use.
var headerName = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// parseHeader reads the name of a header, in the form in which requests have it.
func parseHeader(s string) (string, error) {
	if !headerName.MatchString(s) {
		return "", errors.New("write the name of a header, such as X-OpenWebUI-User-Id")
	}
	return http.CanonicalHeaderKey(s), nil
}

// parseOrigin reads the origin of pages, or * for all. It must have the form in which browsers send it, since the
// header Origin is compared with it as it is: what no browser sends would never match, and nobody would notice.
func parseOrigin(s string) (string, error) {
	if s == "*" {
		return s, nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Hostname() == "" || !strings.EqualFold(s, u.Scheme+"://"+u.Host) ||
		!isHost(u.Host) {
		return s, errors.New("write an origin such as https://app.example.com, without a path, or *")
	}
	sent := strings.ToLower(s)
	// Browsers leave out the port that is the scheme's own.
	switch u.Scheme + u.Port() {
	case "http80", "https443":
		sent = strings.TrimSuffix(sent, ":"+u.Port())
	}
	if s != sent {
		return s, fmt.Errorf("write the origin as browsers write it: %s", sent)
	}
	return s, nil
}

// isHost reports whether a browser could send a host, with its port. Names in other scripts arrive in ASCII
// (punycode).
func isHost(host string) bool {
	odd := func(r rune) bool { return r == '*' || r <= ' ' || r > '~' }
	return !strings.ContainsFunc(host, odd) && !strings.HasSuffix(host, ":")
}

// parsePrefix reads a network; a single address is a network of its own. Bits behind the prefix are cleared.
func parsePrefix(s string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(s)
	if err != nil {
		addr, err := netip.ParseAddr(s)
		if err != nil {
			return prefix, errors.New("write an address such as 10.0.0.7 or a network such as 10.0.0.0/8")
		}
		prefix = netip.PrefixFrom(addr, addr.BitLen())
	}
	return unmapped(prefix).Masked(), nil
}

// unmapped returns an IPv4 network that was written as part of IPv6, such as ::ffff:10.0.0.0/104, in its IPv4 form.
// Addresses of peers are compared in that form, and netip keeps the two apart.
func unmapped(p netip.Prefix) netip.Prefix {
	const mapped = 128 - 32 // bits before those of IPv4
	if !p.Addr().Is4In6() || p.Bits() < mapped {
		return p
	}
	return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mapped)
}

// parseDomain reads a domain for which a certificate is issued. It must have two labels: no authority vouches for a
// name such as localhost.
func parseDomain(s string) (string, error) {
	odd := func(r rune) bool { return r != '-' && r != '.' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }
	name := strings.ToLower(s)
	if strings.ContainsFunc(name, odd) || !strings.Contains(strings.Trim(name, "."), ".") {
		return "", errors.New("write a domain such as images.example.com, without a scheme, a port or a wildcard")
	}
	return name, nil
}
