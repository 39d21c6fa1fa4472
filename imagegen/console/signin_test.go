package console_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

// hashed is secret, hashed once and for all.
const hashed = "$argon2id$v=19$m=19456,t=2,p=1$nnBbZ5QevFnVGwykqujzVw$IFQ7UXlSxnlJ2Ts+tdRYy6tFP6LWwQM9votp4T7DiRs"

const wrong = "The name or the password is wrong."

func TestSignIn(t *testing.T) {
	s := open(t)
	s.user("alice", account.RoleUser)
	v := s.visitor()
	a := v.get("account?x=1")
	s.is.Equal(a.redirected(), "/console/signin?next=%2Fconsole%2Faccount%3Fx%3D1")
	a = v.follow(a)
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has(`<input type="hidden" name="next" value="/console/account?x=1">`))

	a = v.post("signin", "name", " alice ", "password", secret, "next", "/console/account?x=1")
	s.is.Equal(a.redirected(), "/console/account?x=1") // back to where they came from
	a = v.follow(a)
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("alice", "Where you are signed in"))
	s.is.Equal(v.get("signin").redirected(), "/console/") // they are signed in already
}

// Neither the answer nor its time shows whether a name exists, has a password, or is disabled.
func TestSignInFails(t *testing.T) {
	s := open(t)
	s.user("alice", account.RoleUser)
	disabled := s.user("dora", account.RoleUser)
	s.is.NoErr(s.Accounts().DisableUser(t.Context(), disabled.ID))
	for _, name := range []string{"invited", "keyless"} {
		u, err := s.Accounts().CreateUser(t.Context(), name, "")
		s.is.NoErr(err)
		if name == "invited" {
			s.is.NoErr(s.config.Logins.SetLogin(t.Context(), account.Login{User: u.ID, Role: account.RoleUser}))
		}
	}
	var pages []string
	for name, password := range map[string]string{"alice": "another password", "dora": secret, "invited": "",
		"keyless": secret, "nobody": secret} {
		v := s.visitor()
		before := s.Hashes()
		a := v.post("signin", "name", name, "password", password)
		s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
		s.is.Equal(s.Hashes()-before, int64(1))
		s.is.Equal(len(v.cookies), 0)
		s.is.True(a.has(wrong, `value="`+name+`"`)) // what was entered stands there still
		s.is.True(password == "" || !a.has(password))
		pages = append(pages, strings.ReplaceAll(a.body, `value="`+name+`"`, ""))
	}
	for _, p := range pages {
		s.is.Equal(p, pages[0])
	}
}

func TestSignInLeadsNowhereElse(t *testing.T) {
	s := open(t)
	s.user("alice", account.RoleUser)
	for _, next := range []string{"https://evil.example/", "//evil.example/", `/\evil.example`, "/api/v1/credits",
		"javascript:alert(1)", "", "%zz", "https://evil.example/console/x", "/console"} {
		a := s.visitor().post("signin", "name", "alice", "password", secret, "next", next)
		to := a.redirected()
		if next == "https://evil.example/console/x" {
			s.is.Equal(to, "/console/x") // on this host
			continue
		}
		s.is.Equal(to, "/console/")
	}
}

func TestSignInAtTheRoot(t *testing.T) {
	s := open(t, func(c *console.Config) { c.Path = "/" })
	s.user("alice", account.RoleUser)
	for _, next := range []string{"//evil.example/", "http:////evil.example", `/\evil.example`} {
		a := s.visitor().post("/signin", "name", "alice", "password", secret, "next", next)
		s.is.Equal(strings.HasPrefix(a.redirected(), "//"), false)
		s.is.True(strings.HasPrefix(a.redirected(), "/"))
		s.is.True(!strings.Contains(a.redirected(), `\`))
	}
}

func TestSignInLimit(t *testing.T) {
	s := open(t)
	s.user("olivia", account.RoleOperator)
	home := s.visitor()
	s.is.Equal(home.post("signin", "name", "olivia", "password", secret).redirected(), "/console/")

	stranger := s.visitor()
	stranger.address = "[2001:db8::1]:1"
	for range 5 {
		s.is.True(stranger.post("signin", "name", "olivia", "password", "guess").has(wrong))
	}
	before := s.Hashes()
	a := stranger.post("signin", "name", "olivia", "password", secret) // the right one does not help
	s.is.Equal(a.StatusCode, http.StatusTooManyRequests)
	s.is.Equal(a.Header.Get("Retry-After"), "60")
	s.is.True(a.has("Too many attempts. Try again in 60 seconds."))
	s.is.Equal(s.Hashes(), before) // and costs nothing

	home.cookies = map[string]string{}
	// the owner comes in
	s.is.Equal(home.post("signin", "name", "olivia", "password", secret).redirected(), "/console/")

	s.clock.Advance(time.Minute)
	s.is.True(stranger.post("signin", "name", "olivia", "password", secret).redirected() != "")
}

// Several nodes on one store allow as many failures as one, and know the same addresses.
func TestSignInLimitOfSeveralNodes(t *testing.T) {
	s := open(t)
	s.user("olivia", account.RoleOperator)
	s.visitor().post("signin", "name", "olivia", "password", secret)
	nodes := []*site{s, s.beside(), s.beside()}
	stranger := s.visitor()
	stranger.address = "198.51.100.7:1"
	for n := range 9 {
		stranger.site = nodes[n%3]
		want := http.StatusUnprocessableEntity
		if n >= 5 {
			want = http.StatusTooManyRequests
		}
		s.is.Equal(stranger.post("signin", "name", "olivia", "password", "guess").StatusCode, want)
	}
	home := s.visitor()
	home.site = nodes[2]
	s.is.Equal(home.post("signin", "name", "olivia", "password", secret).redirected(), "/console/")
}

// Behind a trusted proxy each client is counted by itself. X-Forwarded-For from other peers is ignored.
func TestSignInLimitBehindAProxy(t *testing.T) {
	s := open(t, func(c *console.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	try := func(from, forwarded string, n int) (status int) {
		v := s.visitor()
		v.address = from
		return v.do(http.MethodPost, "signin", strings.NewReader(fmt.Sprintf("name=user%d&password=guess", n)),
			"Content-Type", "application/x-www-form-urlencoded", "X-Forwarded-For", forwarded).StatusCode
	}
	for n := range 20 {
		s.is.Equal(try("10.0.0.1:1", fmt.Sprintf("198.51.100.%d, 203.0.113.9, 10.0.0.2", n), n),
			http.StatusUnprocessableEntity)
	}
	s.is.Equal(try("10.0.0.1:1", "203.0.113.9", 100), http.StatusTooManyRequests)
	s.is.Equal(try("10.0.0.1:1", "203.0.113.10", 100), http.StatusUnprocessableEntity)
	s.is.Equal(try("203.0.113.9:1", "203.0.113.11", 100), http.StatusTooManyRequests) // itself, whatever it says
	for n := range 20 {
		// some write it so
		s.is.Equal(try("10.0.0.1:1", fmt.Sprintf("[2001:db8:%x::1]", n), 200+n), http.StatusUnprocessableEntity)
	}
	s.is.Equal(try("10.0.0.1:1", "nonsense", 101), http.StatusUnprocessableEntity)
	s.is.Equal(try("@", "203.0.113.9", 102), http.StatusUnprocessableEntity) // a unix socket
}

// Some proxies write the port too.
func TestSignInLimitBehindAProxyThatTellsPorts(t *testing.T) {
	s := open(t, func(c *console.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} })
	for address, other := range map[string]string{"203.0.113.9:%d": "203.0.113.10:1",
		"[2001:db8::1]:%d": "[2001:db9::1]:1"} {
		try := func(forwarded string, n int) (status int) {
			v := s.visitor()
			v.address = "10.0.0.1:1"
			return v.do(http.MethodPost, "signin", strings.NewReader(fmt.Sprintf("name=user%d-%d&password=guess",
				len(address), n)),
				"Content-Type", "application/x-www-form-urlencoded", "X-Forwarded-For", forwarded).StatusCode
		}
		for n := range 20 {
			s.is.Equal(try(fmt.Sprintf(address, 1000+n), n), http.StatusUnprocessableEntity)
		}
		s.is.Equal(try(fmt.Sprintf(address, 2000), 100), http.StatusTooManyRequests)
		s.is.Equal(try(other, 100), http.StatusUnprocessableEntity)
	}
}

func TestSignOut(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	old := v.cookies["imagegen"]
	s.is.Equal(v.get("account").StatusCode, http.StatusOK)
	s.is.Equal(v.get("signout").StatusCode, http.StatusNotFound) // a link cannot do it
	a := v.post("signout")
	s.is.Equal(a.redirected(), "/console/signin")
	s.is.Equal(a.Header.Get("Clear-Site-Data"), `"cache", "storage"`)
	s.is.True(v.follow(a).has("You are signed out."))
	s.is.Equal(len(v.cookies), 0) // the message is gone, too
	v.cookies["imagegen"] = old
	s.is.True(v.get("account").redirected() != "")
	s.is.Equal(s.visitor().post("signout").redirected(), "/console/signin")
}
