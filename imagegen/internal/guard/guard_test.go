package guard

import (
	"net/netip"
	"testing"

	"github.com/matryer/is"
)

func TestPermitted(t *testing.T) {
	for address, want := range map[string]string{
		"93.184.216.34":      "public",
		"2606:2800:220:1::1": "public",
		"127.0.0.1":          "own",
		"127.8.8.8":          "own",
		"10.1.2.3":           "own",
		"172.31.0.1":         "own",
		"192.168.0.1":        "own",
		"100.64.0.1":         "own", // carrier-grade NAT
		"::1":                "own",
		"fd12::1":            "own",
		"::ffff:10.0.0.1":    "own",   // mapped
		"0.0.0.0":            "never", // unspecified
		"0.1.2.3":            "never",
		"169.254.169.254":    "never", // a cloud's metadata
		"::ffff:169.254.1.1": "never",
		"fd00:ec2::254":      "never", // AWS
		"fd00:ec2::23":       "never",
		"fd20:ce::254":       "never", // Google
		"fd00:c1::a9fe:a9fe": "never", // Oracle
		"fd00:42::42":        "never", // Scaleway
		"100.100.100.200":    "never", // Alibaba
		"::ffff:6464:64c8":   "never",
		"168.63.129.16":      "never", // Azure
		"224.0.0.1":          "never", // multicast
		"255.255.255.255":    "never",
		"192.0.0.8":          "never",
		"198.18.0.1":         "never",
		"203.0.113.9":        "never",
		"::":                 "never",
		"fe80::1":            "never",
		"fe80::1%eth0":       "never",
		"ff02::1":            "never",
		"fec0::1":            "never",
		"::10.0.0.1":         "never", // compatible
		"64:ff9b::a00:1":     "never", // NAT64
		"64:ff9b:1::a00:1":   "never",
		"2002:a00:1::1":      "never", // 6to4
		"2001::1":            "never", // Teredo
		"2001:db8::1":        "never",
		"3fff::1":            "never",
		"100::1":             "never",
	} {
		t.Run(address, func(t *testing.T) {
			is := is.New(t)
			addr := netip.AddrPortFrom(netip.MustParseAddr(address), 443).String()
			is.Equal(checkAddress(addr, false) == nil, want == "public")
			is.Equal(checkAddress(addr, true) == nil, want != "never")
		})
	}
	is.New(t).True(checkAddress("example.com:443", true) != nil) // a name is not an address
}
