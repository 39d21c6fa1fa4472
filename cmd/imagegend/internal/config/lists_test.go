package config_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestOrigins(t *testing.T) {
	for origin, ok := range map[string]bool{
		"*":                                true,
		"https://app.example.com":          true,
		"http://localhost:3000":            true,
		"http://[::1]:3000":                true,
		"chrome-extension://abcdef":        true,
		"https://app.example.com:8443":     true,
		"http://app.example.com:443":       true,
		"https://xn--bcher-kva.example":    true,
		"https://b\u00fccher.example":      false,
		"https://app.example.com:443":      false,
		"http://app.example.com:80":        false,
		"https://app.example.com/":         false,
		"https://app.example.com/a":        false,
		"https://app.example.com?a":        false,
		"https://me@app.example.com":       false,
		"https://app.example.com:":         false,
		"https://app.example.com:x":        false,
		"https://*.example.com":            false,
		"https://APP.example.com":          false,
		"app.example.com":                  false,
		"https://":                         false,
		"null":                             false,
		"https://a.example https://b.test": false,
	} {
		t.Run(origin, func(t *testing.T) {
			is := is.New(t)
			t.Chdir(t.TempDir())
			s, _, _, err := load(t, []string{"--cors-origin", origin, "--cors-origin", "https://other.example"}, nil,
				"")
			is.Equal(err == nil, ok)
			if ok {
				is.Equal(s.CORSOrigins, []string{origin, "https://other.example"})
			}
		})
	}
}

// A proxy is known by its IPv4 address however its network is written.
func TestTrustedProxies(t *testing.T) {
	for written, want := range map[string]string{
		"10.0.0.7":            "10.0.0.7/32",
		"10.1.2.3/8":          "10.0.0.0/8",
		"::ffff:10.1.2.3/104": "10.0.0.0/8",
		"::ffff:10.0.0.7":     "10.0.0.7/32",
		"::ffff:0:0/96":       "0.0.0.0/0",
		"2001:db8::1/32":      "2001:db8::/32",
		"::1":                 "::1/128",
		"::/0":                "::/0",
	} {
		t.Run(written, func(t *testing.T) {
			is := is.New(t)
			t.Chdir(t.TempDir())
			s, _, _, err := load(t, []string{"--trusted-proxy", written}, nil, "")
			is.NoErr(err)
			is.Equal(len(s.TrustedProxies), 1)
			is.Equal(s.TrustedProxies[0].String(), want)
		})
	}
}

// An address without a scheme is refused with the way to write it.
func TestAnAddressWithoutItsScheme(t *testing.T) {
	is := is.New(t)
	_, _, _, err := load(t, []string{"--url", "127.0.0.1:8080"}, nil, "")
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "http:// or https:// is missing; write http://127.0.0.1:8080"))
	_, _, _, err = load(t, []string{"--url", "ftp://127.0.0.1:8080"}, nil, "")
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "write an address such as https://images.example.com"))
}
