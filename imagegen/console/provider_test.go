package console_test

import (
	"maps"
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
	p, err := oidc.New(oidc.Config{Issuer: at.URL, ClientID: oidctest.ClientID, Secret: oidctest.Secret,
		Name: "Example ID", RoleClaim: "groups", OperatorValue: "operators"})
	if err != nil {
		t.Fatal(err)
	}
	return open(t, append(change, func(c *console.Config) { c.IdentityProvider = p })...), at
}

// newcomers lets the site create users for new identities.
func newcomers(c *console.Config) { c.ProvisionUsers = true }

// goes follows a link to the provider, and returns the way back.
func (v *visitor) goes(link string) (back string) {
	v.Helper()
	a := v.get(link)
	r, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}).Get(a.redirected())
	v.is.NoErr(err)
	r.Body.Close()
	return strings.TrimPrefix(r.Header.Get("Location"), "http://console.test")
}

func TestSignInByTheProvider(t *testing.T) {
	s, at := openBeside(t, newcomers)
	v := s.visitor()
	s.is.True(v.get("signin?next=/console/account").has("Sign in by Example ID",
		`href="/console/signin/provider?next=%2fconsole%2faccount"`))
	news := s.news(func() {
		s.is.Equal(v.get(v.goes("signin/provider?next=/console/account")).redirected(), "/console/account")
	})
	var acts []account.Act
	for _, r := range news {
		acts = append(acts, r.Act)
	}
	s.is.Equal(cmp.Diff([]account.Act{account.ActUserCreate, account.ActIdentityCreate, account.ActUserPassword,
		account.ActSignIn}, acts), "")
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

// A name or a mail address never finds an existing user.
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

// Every refusal is counted in the trail, and signs nobody in.
func TestProviderRefusals(t *testing.T) {
	for name, enter := range map[string]func(s *site, at *oidctest.Provider, v *visitor) answer{
		"unknown": func(_ *site, _ *oidctest.Provider, v *visitor) answer { return v.get(v.goes("signin/provider")) },
		"expired token": func(_ *site, at *oidctest.Provider, v *visitor) answer {
			at.Lie(func(c map[string]any) { c["exp"] = time.Now().Add(-time.Hour).Unix() })
			return v.get(v.goes("signin/provider"))
		},
		"a name like an identifier": func(_ *site, at *oidctest.Provider, v *visitor) answer {
			at.SignIn("5678", "preferred_username", "usr_01JZZZZZZZZZZZZZZZZZZZZZZZ")
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
			s.eventually(func() bool {
				return len(s.rows(account.TrailQuery{Act: string(account.ActSignInFailed)})) == 1
			})
		})
	}
}

// A repeated callback signs nobody in.
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

// A user with a password can connect an identity, and sign in by it until they disconnect it.
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

	// Another user cannot connect the same identity.
	carol := s.signedIn("carol")
	to = link.FindStringSubmatch(carol.post("account/provider").body)[1]
	s.is.True(carol.get(carol.goes(to)).has("connected with another user"))
	// Another browser cannot complete what she began.
	to = link.FindStringSubmatch(carol.post("account/provider").body)[1]
	s.is.Equal(v.get(to).StatusCode, http.StatusBadRequest)

	v.post("account/provider/remove")
	s.is.Equal(in.get(in.goes("signin/provider")).StatusCode, http.StatusBadRequest)

}

// A user without a password confirms at the provider, by a new authentication as the same person; the form waits.
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
	s.is.True(slices.Equal(a.hiddenFields(), []string{"life", "never", "name", "script"}))
	s.is.True(v.post("keys", a.hiddenFields()...).redirected() != "")
}

// A sign-in by the provider confirms who somebody is only from when they proved it there: who finds a browser open need
// not enter anything to sign in once more.
func TestSilentSignInConfirmsNothing(t *testing.T) {
	s, at := openBeside(t, newcomers)
	v := s.visitor()
	made := func() bool {
		v.get(v.goes("signin/provider"))
		a := v.post("keys", "name", "script", "life", "never")
		s.is.True(a.redirected() != "" || a.has(nothingDone, "Confirm by Example ID"))
		return a.redirected() != ""
	}
	s.is.True(made())
	ago := func(d time.Duration) func(map[string]any) {
		return func(c map[string]any) { c["auth_time"] = time.Now().Add(-d).Unix() }
	}
	at.Lie(ago(6 * time.Minute))
	s.is.True(!made())
	at.Lie(ago(3 * time.Minute))
	s.is.True(made())
	at.Lie(ago(-time.Minute)) // its clock is ahead
	s.is.True(made())
	at.Lie(func(c map[string]any) { delete(c, "auth_time") })
	s.is.True(made()) // nobody knows when: its people may have no other way to confirm

	// What waits is done after a new proof.
	at.Lie(ago(time.Hour))
	s.is.True(!made())
	to := link.FindStringSubmatch(v.post("keys", "name", "script", "life", "never").body)[1]
	at.Lie(func(map[string]any) {})
	a := v.get(v.goes(to))
	s.is.True(v.post("keys", a.hiddenFields()...).redirected() != "")
}

// Without a provider its routes do not exist.
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

// Sign-ins that strangers begin and never complete do not displace others.
func TestStrangersPushNobodyOut(t *testing.T) {
	s, _ := openBeside(t, newcomers)
	first, stranger := s.visitor(), s.visitor()
	back := first.goes("signin/provider")
	for range 10_000 {
		stranger.get("signin/provider")
	}
	s.is.Equal(first.get(back).redirected(), "/console/")
}

// A sign-in that begins at one node can end at another, and works once.
func TestVisitsOfSeveralNodes(t *testing.T) {
	s, _ := openBeside(t, newcomers)
	v, other := s.visitor(), s.beside()
	back := v.goes("signin/provider?next=/console/account")
	replay := maps.Clone(v.cookies)
	v.site = other
	s.is.Equal(v.get(back).redirected(), "/console/account")
	again := s.visitor()
	again.cookies = replay
	s.is.Equal(again.get(back).StatusCode, http.StatusBadRequest)

	s.clock.Advance(5 * time.Minute)
	to := link.FindStringSubmatch(v.post("keys", "name", "script", "life", "never").body)[1]
	v.site = s
	back = v.goes(to)
	v.site = other
	a := v.get(back)
	s.is.True(slices.Equal(a.hiddenFields(), []string{"life", "never", "name", "script"}))
	v.site = s
	s.is.True(v.post("keys", a.hiddenFields()...).redirected() != "")
}

// The way back does not lead to a page with too long an address. A form that is too large is refused.
func TestWhatCannotTravelAlong(t *testing.T) {
	s, _ := openBeside(t, newcomers)
	v := s.visitor()
	long := strings.Repeat("x", 1900)
	s.is.Equal(v.get(v.goes("signin/provider?next=/console/account?"+long)).redirected(), "/console/account?"+long)
	for _, cookie := range v.cookies {
		s.is.True(len(cookie) < 4000)
	}
	s.is.Equal(v.get(v.goes("signin/provider?next=/console/account?"+long+long)).redirected(), "/console/")
	s.clock.Advance(5 * time.Minute)
	s.is.True(v.post("keys", "name", long[:1700], "life", "never").has("Confirm by Example ID"))
	a := v.post("keys", "name", long+long, "life", "never")
	s.is.Equal(a.StatusCode, http.StatusBadRequest)
	s.is.True(a.has("The form is too large; shorten what you entered."))
}
