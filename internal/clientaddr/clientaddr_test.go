package clientaddr_test

import (
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/internal/clientaddr"
)

func TestOf(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for name, test := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"no proxy":                       {"203.0.113.9:1", nil, "203.0.113.9"},
		"one that only says so":          {"203.0.113.9:1", []string{"192.0.2.1"}, "203.0.113.9"},
		"a proxy":                        {"10.0.0.1:1", []string{"203.0.113.9"}, "203.0.113.9"},
		"a proxy in IPv6":                {"[::ffff:10.0.0.1]:1", []string{"203.0.113.9"}, "203.0.113.9"},
		"two proxies":                    {"10.0.0.1:1", []string{"203.0.113.9, fd00::1"}, "203.0.113.9"},
		"two headers":                    {"10.0.0.1:1", []string{"203.0.113.9", "10.0.0.2"}, "203.0.113.9"},
		"what the client said before it": {"10.0.0.1:1", []string{"192.0.2.1, 203.0.113.9"}, "203.0.113.9"},
		"brackets":                       {"10.0.0.1:1", []string{"[2001:db8::1]"}, "2001:db8::1"},
		"a port":                         {"10.0.0.1:1", []string{"[2001:db8::1]:80"}, "2001:db8::1"},
		"nonsense":                       {"10.0.0.1:1", []string{"203.0.113.9, unknown"}, "10.0.0.1"},
		"a proxy that says nothing":      {"10.0.0.1:1", nil, "10.0.0.1"},
		"a unix socket":                  {"@", []string{"203.0.113.9"}, "invalid IP"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
			r.RemoteAddr = test.peer
			r.Header["X-Forwarded-For"] = test.forwarded
			is.Equal(clientaddr.Of(r, proxies).String(), test.want)
		})
	}
}

func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1",
		"2001:db8::ffff:1": "2001:db8::", "fe80::2%eth1": "fe80::"} {
		is.New(t).Equal(clientaddr.Network(netip.MustParseAddr(address)).String(), want)
	}
}
