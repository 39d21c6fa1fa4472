package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

// deviceOf is the cookie by which a browser is known.
func (v *visitor) device() (name, value string) {
	for name, value := range v.cookies {
		if strings.Contains(name, "device") {
			return name, value
		}
	}
	return "", ""
}

// reopened is the same site after a restart: with its store, but a new console.
func (s *site) reopened() {
	s.Helper()
	var err error
	s.Console, err = console.New(s.config)
	s.is.NoErr(err)
}

// guess tries wrong passwords for a name from many addresses, until strangers are refused.
func (s *site) guess(name string) {
	s.Helper()
	stranger := s.visitor()
	stranger.address = "203.0.113.7:1"
	for range 5 {
		s.is.True(stranger.post("signin", "name", name, "password", "guess").has(wrong))
	}
	s.is.Equal(stranger.post("signin", "name", name, "password", secret).StatusCode, http.StatusTooManyRequests)
}

// Strangers who try a name cannot keep its owner out of a browser in which the owner has signed in before, not even
// after a restart or from a new address.
func TestKnownBrowser(t *testing.T) {
	s := open(t)
	s.user("olivia", account.RoleOperator)
	v := s.visitor()
	s.is.Equal(v.post("signin", "name", "olivia", "password", secret).redirected(), "/console/")
	s.is.Equal(v.post("signout").redirected(), "/console/signin") // it is known still
	s.reopened()
	v.address = "198.51.100.99:1"
	s.guess("olivia")
	s.is.Equal(v.post("signin", "name", "olivia", "password", secret).redirected(), "/console/")

	for range 5 { // the holder of the cookie cannot guess without limit
		s.is.True(v.post("signin", "name", "olivia", "password", "guess").has(wrong))
	}
	s.is.Equal(v.post("signin", "name", "olivia", "password", secret).StatusCode, http.StatusTooManyRequests)
}

// A cookie is valid only for the user and the password for which it was set.
func TestDeviceOfOthers(t *testing.T) {
	for name, change := range map[string]func(s *site, v *visitor){
		"forged": func(_ *site, v *visitor) {
			name, value := v.device()
			v.cookies[name] = value[:30] + strings.Map(func(r rune) rune { return r ^ 1 }, value[30:31]) + value[31:]
		},
		"cut short": func(_ *site, v *visitor) {
			name, value := v.device()
			v.cookies[name] = value[:len(value)-1]
		},
		"empty": func(_ *site, v *visitor) {
			name, _ := v.device()
			v.cookies[name] = ""
		},
		"of another user": func(s *site, v *visitor) {
			s.user("bob", account.RoleUser)
			b := s.visitor()
			b.post("signin", "name", "bob", "password", secret)
			name, _ := v.device()
			_, v.cookies[name] = b.device()
		},
		"old": func(s *site, _ *visitor) { s.clock.Advance(181 * 24 * time.Hour) },
		"of a former password": func(s *site, v *visitor) {
			u, err := s.Accounts().UserByName(s.Context(), "olivia")
			s.is.NoErr(err)
			other := strings.Replace(hashed, "nnBbZ5", "oooooo", 1)
			s.is.NoErr(s.config.Logins.SetLogin(s.Context(), account.Login{User: u.ID, Role: account.RoleUser,
				Password: other, ChangedAt: s.clock.Now()}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			s.user("olivia", account.RoleUser)
			v := s.visitor()
			s.is.Equal(v.post("signin", "name", "olivia", "password", secret).redirected(), "/console/")
			change(s, v)
			s.reopened()
			s.guess("olivia")
			v.address = "198.51.100.99:1"
			s.is.Equal(v.post("signin", "name", "olivia", "password", secret).StatusCode, http.StatusTooManyRequests)
		})
	}
}

// The cookie signs nobody in, and scripts cannot read it.
func TestDeviceCookie(t *testing.T) {
	s := open(t, func(c *console.Config) { c.Secure = true })
	s.user("alice", account.RoleUser)
	v := s.visitor()
	a := v.post("signin", "name", "alice", "password", secret)
	name, _ := v.device()
	s.is.True(strings.HasPrefix(name, "__Host-imagegen-device-"))
	for _, c := range a.Cookies() {
		if c.Name == name {
			s.is.True(c.HttpOnly && c.Secure && c.SameSite == http.SameSiteLaxMode && c.MaxAge == 180*24*60*60)
		}
	}
	delete(v.cookies, "__Host-imagegen")
	s.is.True(v.get("account").redirected() != "")
}

// A user learns when their password was set, in case somebody else did it: at the first sign-in with it in a browser,
// from the link that sets the next one, and on the account page.
func TestTheUserIsToldOfAReset(t *testing.T) {
	s := open(t)
	u := s.user("alice", account.RoleUser)
	at := s.clock.Now()
	v := s.visitor()
	const first = "This is the first sign-in in this browser with the password that was set on "
	a := v.post("signin", "name", "alice", "password", secret, "next", "/console/account")
	s.is.True(v.follow(a).has(first, "Password set"))
	v.post("signout")
	s.is.True(!v.follow(v.post("signin", "name", "alice", "password", secret, "next", "/console/account")).has(first))

	s.clock.Advance(time.Hour)
	thief := s.visitor()
	thief.post(s.invite(u, account.RoleUser), "password", "what the operator chose", "again", "what the operator chose")
	s.is.True(thief.get("account").has("The one before was set on " + at.Format("2 January 2006, 15:04 UTC")))
	a = v.post("signin", "name", "alice", "password", "what the operator chose", "next", "/console/account")
	s.is.True(v.follow(a).has(first + s.clock.Now().Format("2 January 2006, 15:04 UTC")))

	owner := s.visitor()
	owner.post(s.invite(u, account.RoleUser), "password", secret, "again", secret)
	s.is.True(owner.get("account").has("The one before was set on "+s.clock.Now().Format("2 January 2006, 15:04 UTC"),
		"if that was not you, tell the operator"))
}

// Links begin with the configured address, not with the host that a request names.
func TestInvitationLinkBeginsWithTheBaseURL(t *testing.T) {
	s := open(t, func(c *console.Config) { c.BaseURL = "https://images.example.com/sub" })
	u := s.user("alice", account.RoleUser)
	v := s.operator()
	a := v.do(http.MethodPost, "users/"+string(u.ID)+"/invitation", strings.NewReader("role=user&days=3"),
		"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "Origin",
		"https://evil.example")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("https://images.example.com/console/invitation/"))
	s.is.True(!a.has("evil.example"))
}
