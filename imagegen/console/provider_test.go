package console_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/console/oidc"
	"github.com/imagegend/imagegend/imagegen/console/oidc/oidctest"
)

// openBeside is a site and the provider by which people sign in to it.
func openBeside(t *testing.T, change ...func(*console.Config)) (*site, *oidctest.Provider) {
	t.Helper()
	at := oidctest.Start(t)
	at.SignIn("1234", "preferred_username", "alice")
	p, err := oidc.New(oidc.Config{Issuer: at.URL, ClientID: oidctest.ClientID, Secret: oidctest.Secret, Name: "Example ID",
		RoleClaim: "groups", OperatorValue: "operators"})
	if err != nil {
		t.Fatal(err)
	}
	return open(t, append(change, func(c *console.Config) { c.Provider = p })...), at
}

// newcomers lets the site make users of whom the provider knows.
func newcomers(c *console.Config) { c.Newcomers = true }

// goes follows a link to the provider, and returns the way back.
func (v *visitor) goes(link string) (back string) {
	v.Helper()
	a := v.get(link)
	r, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Get(a.redirected())
	v.is.NoErr(err)
	r.Body.Close()
	return strings.TrimPrefix(r.Header.Get("Location"), "http://console.test")
}

func TestSignInByTheProvider(t *testing.T) {
	s, at := openBeside(t, newcomers)
	v := s.visitor()
	s.is.True(v.get("signin?next=/console/account").has("Sign in by Example ID", `href="/console/signin/provider?next=%2fconsole%2faccount"`))
	news := s.news(func() {
		s.is.Equal(v.get(v.goes("signin/provider?next=/console/account")).redirected(), "/console/account")
	})
	var acts []account.Act
	for _, r := range news {
		acts = append(acts, r.Act)
	}
	s.is.Equal(cmp.Diff([]account.Act{account.ActUserCreate, account.ActIdentityCreate, account.ActUserPassword, account.ActSignIn}, acts), "")
	s.is.Equal(news[3].Actor.Name, "alice")
	s.is.True(v.get("account").has("alice", "You can sign in by Example ID."))
	s.is.True(v.get("users").StatusCode == http.StatusNotFound)

	// Under another name and address it is the same user, with the role that the provider says now.
	at.SignIn("1234", "preferred_username", "alice-married", "groups", []string{"operators"})
	s.is.Equal(v.get(v.goes("signin/provider")).redirected(), "/console/")
	s.is.True(v.get("users").has("alice") && !v.get("users").has("alice-married"))
	at.SignIn("1234")
	v.get(v.goes("signin/provider"))
	s.is.Equal(v.get("users").StatusCode, http.StatusNotFound)
}

// A name or an address makes nobody the user who has it.
func TestProviderNamesNobody(t *testing.T) {
	s, at := openBeside(t, newcomers)
	s.user("alice", account.RoleOperator)
	v := s.visitor()
	a := v.get(v.goes("signin/provider"))
	s.is.Equal(a.StatusCode, http.StatusBadRequest)
	s.is.True(a.has("There is a user alice here already"))
	s.is.True(v.get("account").redirected() != "")
	at.SignIn("another", "preferred_username", "bob")
	s.is.Equal(v.get(v.goes("signin/provider")).redirected(), "/console/")
	at.SignIn("a third", "preferred_username", "bob")
	s.is.True(s.visitor().get(s.visitor().goes("signin/provider")).StatusCode == http.StatusBadRequest)
}

// Every refusal is counted in the trail, and lets nobody in.
func TestProviderRefusals(t *testing.T) {
	for name, enter := range map[string]func(s *site, at *oidctest.Provider, v *visitor) answer{
		"unknown": func(_ *site, _ *oidctest.Provider, v *visitor) answer { return v.get(v.goes("signin/provider")) },
		"expired token": func(_ *site, at *oidctest.Provider, v *visitor) answer {
			at.Lie(func(c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() })
			return v.get(v.goes("signin/provider"))
		},
		"another's way back": func(s *site, _ *oidctest.Provider, v *visitor) answer {
			return v.get(s.visitor().goes("signin/provider"))
		},
		"state of another visit": func(s *site, _ *oidctest.Provider, v *visitor) answer {
			back := v.goes("signin/provider")
			v.goes("signin/provider")
			return v.get(back)
		},
		"late": func(s *site, _ *oidctest.Provider, v *visitor) answer {
			back := v.goes("signin/provider")
			s.clock.Advance(10 * time.Minute)
			return v.get(back)
		},
		"disabled": func(s *site, at *oidctest.Provider, v *visitor) answer {
			u := s.newcomer("dora")
			s.is.NoErr(s.DB.CreateIdentity(s.Context(), account.Identity{Issuer: at.URL, Subject: "1234", User: u.ID}))
			s.is.NoErr(s.Accounts().DisableUser(s.Context(), u.ID))
			return v.get(v.goes("signin/provider"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, at := openBeside(t)
			v := s.visitor()
			a := enter(s, at, v)
			s.is.Equal(a.StatusCode, http.StatusBadRequest)
			s.is.True(v.get("account").redirected() != "")
			s.eventually(func() bool { return len(s.rows(account.TrailQuery{Act: string(account.ActSignInFailed)})) == 1 })
		})
	}
}

// Who comes back a second time, with all that the first had, is not let in.
func TestProviderReplay(t *testing.T) {
	s, _ := openBeside(t, newcomers)
	v := s.visitor()
	back := v.goes("signin/provider")
	before := map[string]string{}
	for name, value := range v.cookies {
		before[name] = value
	}
	s.is.Equal(v.get(back).redirected(), "/console/")
	v.cookies = before
	s.is.Equal(v.get(back).StatusCode, http.StatusBadRequest)
	s.is.True(v.get("account").redirected() != "")
}

var link = regexp.MustCompile(`href="(/console/signin/provider\?pending=[^"]+)"`)

// A user with a password connects who they are elsewhere, and is known by it until they disconnect.
func TestConnect(t *testing.T) {
	s, _ := openBeside(t)
	v := s.signedIn("bob")
	s.is.True(v.get("account").has("Connect who you are there"))
	to := link.FindStringSubmatch(v.post("account/provider").body)[1]
	s.is.True(v.follow(v.get(v.goes(to))).has("You can sign in by Example ID."))
	s.is.Equal(s.visitor().get(to).StatusCode, http.StatusBadRequest) // used
	in := s.visitor()
	s.is.Equal(in.get(in.goes("signin/provider")).redirected(), "/console/")
	s.is.True(in.get("account").has("bob"))

	// Nobody else is connected with the same.
	carol := s.signedIn("carol")
	to = link.FindStringSubmatch(carol.post("account/provider").body)[1]
	s.is.True(carol.get(carol.goes(to)).has("connected with another user"))
	// Nor does another's browser end what she began.
	to = link.FindStringSubmatch(carol.post("account/provider").body)[1]
	s.is.Equal(v.get(to).StatusCode, http.StatusBadRequest)

	v.post("account/provider/remove")
	s.is.Equal(in.get(in.goes("signin/provider")).StatusCode, http.StatusBadRequest)

}

// Who has no password confirms at the provider, as the same person and anew; the form waits.
func TestConfirmByTheProvider(t *testing.T) {
	s, at := openBeside(t, newcomers)
	v := s.visitor()
	v.get(v.goes("signin/provider"))
	s.is.True(v.post("account/provider/remove").has("could not sign in any more"))
	s.clock.Advance(5 * time.Minute)
	ask := func() string {
		a := v.post("keys", "name", "script", "life", "never")
		s.is.Equal(a.StatusCode, http.StatusForbidden)
		s.is.True(!a.has("Your password"))
		return link.FindStringSubmatch(a.body)[1]
	}
	at.SignIn("somebody else", "preferred_username", "bob")
	s.is.True(v.get(v.goes(ask())).has("as somebody else at Example ID"))
	at.SignIn("1234")
	at.Lie(func(c map[string]any) { c["auth_time"] = time.Now().Add(-time.Hour).Unix() })
	s.is.True(v.get(v.goes(ask())).has("did not ask anew who you are"))
	at.Lie(func(map[string]any) {})
	a := v.get(v.goes(ask()))
	s.is.True(a.has(`action="/console/keys"`))
	s.is.True(slices.Equal(a.kept(), []string{"life", "never", "name", "script"}))
	s.is.True(v.post("keys", a.kept()...).redirected() != "")
}

// Without a provider there is no way to one.
func TestNoProvider(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	for _, path := range []string{"signin/provider", "signin/provider/callback"} {
		s.is.Equal(v.get(path).StatusCode, http.StatusNotFound)
	}
	for _, path := range []string{"account/provider", "account/provider/remove"} {
		s.is.Equal(v.post(path).StatusCode, http.StatusNotFound)
	}
}

// Strangers who begin and never come back take a bounded room: the oldest of 10,000 visits makes it.
func TestVisitsAreBounded(t *testing.T) {
	s, _ := openBeside(t, newcomers)
	first, second, stranger := s.visitor(), s.visitor(), s.visitor()
	a, b := first.goes("signin/provider"), second.goes("signin/provider")
	for range 9_999 {
		stranger.get("signin/provider")
	}
	s.is.Equal(first.get(a).StatusCode, http.StatusBadRequest)
	s.is.Equal(second.get(b).redirected(), "/console/")
}
