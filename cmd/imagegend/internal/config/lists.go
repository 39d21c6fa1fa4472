package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// origins are addresses of pages, as browsers send them in Origin: that is what they are compared with.
type origins struct{ value *[]string }

func (o *origins) Set(s string) error { return setEach(o, s) }

func (o *origins) Append(s string) error {
	if s != "*" {
		if err := checkOrigin(s); err != nil {
			return err
		}
	}
	*o.value = append(*o.value, s)
	return nil
}

// checkOrigin refuses what no browser sends: an entry that never matches would go unnoticed.
func checkOrigin(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Hostname() == "" || !strings.EqualFold(s, u.Scheme+"://"+u.Host) || !isHost(u.Host) {
		return errors.New("write an origin such as https://app.example.com, without a path, or *")
	}
	sent := strings.ToLower(s)
	switch u.Scheme + u.Port() {
	case "http80", "https443":
		sent = strings.TrimSuffix(sent, ":"+u.Port())
	}
	if s != sent {
		return fmt.Errorf("write the origin as browsers write it: %s", sent)
	}
	return nil
}

// isHost reports whether a browser could send such a host: names in other scripts it writes in ASCII.
func isHost(host string) bool {
	odd := func(r rune) bool { return r == '*' || r <= ' ' || r > '~' }
	return !strings.ContainsFunc(host, odd) && !strings.HasSuffix(host, ":")
}

func (o *origins) Replace(list []string) error {
	*o.value = nil
	return appendEach(o, list)
}

func (o *origins) GetSlice() []string { return *o.value }
func (o *origins) String() string     { return strings.Join(*o.value, ",") }
func (o *origins) Type() string       { return "strings" }

// prefixes are networks; a single address is a network of its own.
type prefixes struct{ value *[]netip.Prefix }

func (p *prefixes) Set(s string) error { return setEach(p, s) }

func (p *prefixes) Append(s string) error {
	prefix, err := netip.ParsePrefix(s)
	if err != nil {
		addr, err := netip.ParseAddr(s)
		if err != nil {
			return errors.New("write an address such as 10.0.0.7 or a network such as 10.0.0.0/8")
		}
		prefix = netip.PrefixFrom(addr, addr.BitLen())
	}
	*p.value = append(*p.value, unmapped(prefix).Masked())
	return nil
}

// unmapped writes an IPv4 network as such where it was written as part of IPv6, such as
// ::ffff:10.0.0.0/104: the address of a peer is so written when it is compared.
func unmapped(p netip.Prefix) netip.Prefix {
	const mapped = 128 - 32 // bits before those of IPv4
	if !p.Addr().Is4In6() || p.Bits() < mapped {
		return p
	}
	return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mapped)
}

func (p *prefixes) Replace(list []string) error {
	*p.value = nil
	return appendEach(p, list)
}

func (p *prefixes) GetSlice() []string {
	list := make([]string, len(*p.value))
	for i, prefix := range *p.value {
		list[i] = prefix.String()
	}
	return list
}

func (p *prefixes) String() string { return strings.Join(p.GetSlice(), ",") }
func (p *prefixes) Type() string   { return "strings" }

type appender interface{ Append(string) error }

// setEach takes what stands between commas, as a variable has it.
func setEach(to appender, s string) error { return appendEach(to, strings.Split(s, ",")) }

func appendEach(to appender, list []string) error {
	for _, s := range list {
		if err := to.Append(s); err != nil {
			return err
		}
	}
	return nil
}
