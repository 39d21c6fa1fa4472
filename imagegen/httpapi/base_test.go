package httpapi_test

import (
	"maps"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// The error names the bad header that a caller or a proxy has sent.
func TestBadHostHeaders(t *testing.T) {
	s := serve(t, httpapi.Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	for name, value := range map[string]string{"X-Forwarded-Proto": "ftp", "X-Forwarded-Host": "b/c"} {
		message := s.refused(s.post(fox(""), name, value), http.StatusBadRequest, imagegen.CodeInvalidRequest)
		s.is.True(strings.HasPrefix(message, "the "+name+" header") && strings.HasSuffix(message, `got "`+value+`"`))
	}
	r := s.request("GET", "/api/v1/generations", nil)
	r.Host = "a:b"
	s.is.True(strings.HasPrefix(s.refused(s.send(r), http.StatusBadRequest, imagegen.CodeInvalidRequest),
		"the Host header"))
	s.untouched()
}

// What the addresses in answers begin with.
func TestBaseURL(t *testing.T) {
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for name, c := range map[string]struct {
		options httpapi.Options
		host    string
		header  http.Header
		want    string // "": 400
	}{
		"the Host": {httpapi.Options{}, "images.example:8080", nil, "http://images.example:8080"},
		"IPv6":     {httpapi.Options{}, "[::1]:80", nil, "http://[::1]:80"},
		"configured": {httpapi.Options{BaseURL: "https://cdn.example/imagegen/"}, "x", nil,
			"https://cdn.example/imagegen"},
		"configured, bad Host": {httpapi.Options{BaseURL: "https://cdn.example"}, "a/b", nil, "https://cdn.example"},
		"no proxy is trusted": {httpapi.Options{}, "a", http.Header{"X-Forwarded-Proto": {"https"},
			"X-Forwarded-Host": {"b"}}, "http://a"},
		"another is trusted": {
			httpapi.Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, "a",
			http.Header{"X-Forwarded-Host": {"b"}}, "http://a"},
		"a trusted proxy": {httpapi.Options{TrustedProxies: loopback}, "a",
			http.Header{"X-Forwarded-Proto": {"HTTPS"}, "X-Forwarded-Host": {"b:81"}}, "https://b:81"},
		"a proxy without headers": {httpapi.Options{TrustedProxies: loopback}, "a", nil, "http://a"},
		"the last of several": {httpapi.Options{TrustedProxies: loopback}, "a",
			http.Header{"X-Forwarded-Host": {"evil.example, c", "b"}, "X-Forwarded-Proto": {"http,https"}},
			"https://b"},
		"a configured one wins": {httpapi.Options{TrustedProxies: loopback, BaseURL: "https://z"}, "a",
			http.Header{"X-Forwarded-Host": {"b"}}, "https://z"},
		"a proxy's other scheme": {httpapi.Options{TrustedProxies: loopback}, "a",
			http.Header{"X-Forwarded-Proto": {"javascript"}}, ""},
		"a proxy's bad host": {httpapi.Options{TrustedProxies: loopback}, "a",
			http.Header{"X-Forwarded-Host": {"b/c"}}, ""},
		"a user in the Host":     {httpapi.Options{}, "u:p@a", nil, ""},
		"a path in the Host":     {httpapi.Options{}, "a/b", nil, ""},
		"a port that is none":    {httpapi.Options{}, "a:b", nil, ""},
		"two ports":              {httpapi.Options{}, "a:80:90", nil, ""},
		"brackets and two ports": {httpapi.Options{}, "[::1]:80:90", nil, ""},
		"brackets without sense": {httpapi.Options{}, "[a", nil, ""},
		"only a port":            {httpapi.Options{}, ":80", nil, ""},
		"too long":               {httpapi.Options{}, strings.Repeat("a", 256), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.options)
			ask := func(method, path, body string) answer {
				r := s.request(method, path, strings.NewReader(body))
				r.Host = c.host
				maps.Copy(r.Header, c.header)
				return s.send(r)
			}
			a := ask(http.MethodPost, generations, fox(""))
			if c.want == "" {
				s.refused(a, http.StatusBadRequest, imagegen.CodeInvalidRequest)
				s.untouched()
				return
			}
			g := s.accepted(a, http.StatusOK)
			s.is.Equal(g.PollURL, c.want+"/api/v1/generations/"+g.ID)
			s.is.Equal(a.Header.Get("Location"), g.PollURL)
			s.is.Equal(g.Images[0].URL, c.want+"/images/"+g.Images[0].ID)
			s.is.Equal(s.accepted(ask("GET", "/api/v1/generations/"+g.ID, ""), http.StatusOK).PollURL, g.PollURL)
			s.is.True(strings.Contains(ask("GET", "/api/v1/generations", "").body, `"poll_url":"`+g.PollURL+`"`))
		})
	}
}
