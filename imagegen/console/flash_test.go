package console_test

import (
	"encoding/base64"
	"strings"
	"testing"
)

// A message is shown once, as text, even if somebody has changed the cookie.
func TestFlash(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	for cookie, want := range map[string]string{
		base64.RawURLEncoding.EncodeToString(
			[]byte("done <b>")): `<p class="flash success" role="status">done &lt;b&gt;</p>`,
		base64.RawURLEncoding.EncodeToString(
			[]byte("a\xffb")): `role="status">ab</p>`,
		base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("x", 1000))):                   "xxx</p>",
		base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("longer than it is set", 50))): "",
		"no base64!": "",
		"":           "",
	} {
		v.cookies["imagegen-flash"] = cookie
		a := v.get("account")
		s.is.Equal(a.has(`role="status"`), want != "")
		s.is.True(a.has(want))
		s.is.True(!v.get("account").has(`role="status"`))
	}
}

// A long name does not make the cookie too large for browsers.
func TestLongFlash(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	name := strings.Repeat("ä", 127)
	address := v.key(name)
	a := v.post(strings.TrimSuffix(address, "created") + "revoke")
	s.is.True(len(a.Cookies()[0].Value) < 2000)
	s.is.True(v.follow(a).has(name + "” is revoked."))
}
