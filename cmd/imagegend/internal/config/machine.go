package config

import (
	"net/netip"
	"net/url"
	"strings"
)

// OnThisMachine reports whether only this machine can reach an address with a port, or a host. Of names, localhost
// alone counts: nothing is looked up.
func OnThisMachine(address string) bool {
	host := strings.Trim((&url.URL{Host: address}).Hostname(), "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}
