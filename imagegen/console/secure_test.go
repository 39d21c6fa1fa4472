package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

func TestHeaders(t *testing.T) {
	s := open(t, func(c *console.Config) { c.Secure = true })
	for _, path := range []string{"signin", "nothing", "account"} {
		h := s.visitor().get(path).Header
		s.is.Equal(h.Get("Content-Security-Policy"),
			"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "+
				"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
		s.is.Equal(h.Get("X-Content-Type-Options"), "nosniff")
		s.is.Equal(h.Get("Referrer-Policy"), "same-origin")
		s.is.Equal(h.Get("Cross-Origin-Opener-Policy"), "same-origin")
		s.is.Equal(h.Get("Strict-Transport-Security"), "max-age=31536000")
		s.is.Equal(h.Get("Cache-Control"), "no-store")
	}
}

// Forms sent by another site are refused, even the sign-in.
func TestCrossSite(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.user("mallory", account.RoleUser)
	for _, header := range [][2]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
		{"Origin", "https://evil.example"}, {"Origin", "null"}} {
		for _, path := range []string{"signout", "signin", "account/signins/end", "nothing"} {
			a := v.do(http.MethodPost, path, strings.NewReader("name=mallory&password="+secret),
				"Content-Type", "application/x-www-form-urlencoded", header[0], header[1])
			s.is.Equal(a.StatusCode, http.StatusForbidden)
			s.is.True(a.has("This request was sent by another site."))
		}
	}
	a := v.get("account", "Sec-Fetch-Site", "cross-site") // a link may lead here
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("alice"))
}

// A user's name is escaped in pages.
func TestEscaping(t *testing.T) {
	s := open(t)
	v := s.signedIn(`<script>alert("x")<b>`)
	a := v.get("account")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(!a.has("<script>alert"))
	s.is.True(a.has("&lt;script&gt;alert"))
	v.cookies["imagegen-flash"] = "PGI-" // <b>
	s.is.True(v.get("account").has("&lt;b&gt;"))
}
