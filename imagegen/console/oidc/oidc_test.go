package oidc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/console/oidc"
	"github.com/imagegend/imagegend/imagegen/console/oidc/oidctest"
)

const callback = "http://console.test/console/signin/provider/callback"

// visitor is somebody who goes to the provider and comes back.
type visitor struct {
	*testing.T
	is *is.I
	at *oidctest.Provider
	*oidc.Provider
}

func visit(t *testing.T, change ...func(*oidc.Config)) *visitor {
	t.Helper()
	at := oidctest.Start(t)
	at.SignIn("1234", "preferred_username", "alice", "email", "alice@example.com")
	c := oidc.Config{Issuer: at.URL, ClientID: oidctest.ClientID, Secret: oidctest.Secret}
	for _, f := range change {
		f(&c)
	}
	p, err := oidc.New(c)
	is := is.New(t)
	is.NoErr(err)
	return &visitor{t, is, at, p}
}

// goes returns the query with which the browser comes back, and the secret.
func (v *visitor) goes(again bool) (query url.Values, secret []byte) {
	v.Helper()
	address, secret, err := v.Begin(v.Context(), callback, again)
	v.is.NoErr(err)
	r, err := (&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}).Get(address)
	v.is.NoErr(err)
	r.Body.Close()
	back, err := r.Location()
	v.is.NoErr(err)
	v.is.True(strings.HasPrefix(back.String(), callback+"?"))
	return back.Query(), secret
}

func (v *visitor) comes() (console.ExternalIdentity, error) {
	v.Helper()
	query, secret := v.goes(false)
	return v.Finish(v.Context(), secret, query)
}

func TestExternalIdentity(t *testing.T) {
	v := visit(t)
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	v.at.Lie(func(c map[string]any) { c["auth_time"] = at.Unix() })
	who, err := v.comes()
	v.is.NoErr(err)
	// the provider is not asked for roles
	v.is.Equal(who, console.ExternalIdentity{Subject: "1234", Name: "alice", AuthenticatedAt: at})
	v.at.Lie(func(c map[string]any) { delete(c, "auth_time") })
	who, err = v.comes()
	v.is.NoErr(err)
	v.is.True(who.AuthenticatedAt.IsZero())
	v.is.Equal(v.Issuer(), v.at.URL)
	v.is.Equal(v.Name(), "127.0.0.1")
	v.at.SignIn("1234", "email", "alice@example.com")
	who, err = v.comes()
	v.is.NoErr(err)
	v.is.Equal(who.Name, "alice@example.com")
}

// A token is refused if any claim differs from what was requested.
func TestLies(t *testing.T) {
	for name, lie := range map[string]func(claims map[string]any){
		"issuer":        func(c map[string]any) { c["iss"] = "https://evil.example" },
		"audience":      func(c map[string]any) { c["aud"] = "another" },
		"party":         func(c map[string]any) { c["azp"] = "another" },
		"party unnamed": func(c map[string]any) { c["aud"] = []string{oidctest.ClientID, "another"} },
		"nonce":         func(c map[string]any) { c["nonce"] = "another" },
		"no nonce":      func(c map[string]any) { delete(c, "nonce") },
		"expired":       func(c map[string]any) { c["exp"] = time.Now().Add(-time.Minute).Unix() },
		"no expiry":     func(c map[string]any) { delete(c, "exp") },
		"nobody":        func(c map[string]any) { delete(c, "sub") },
		"access token":  func(c map[string]any) { c["at_hash"] = "bm90IGl0" },
		"not yet valid": func(c map[string]any) { c["nbf"] = time.Now().Add(time.Hour).Unix() },
	} {
		t.Run(name, func(t *testing.T) {
			v := visit(t)
			v.at.Lie(lie)
			_, err := v.comes()
			v.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
		})
	}
}

func TestForgedSignature(t *testing.T) {
	v := visit(t)
	_, err := v.comes()
	v.is.NoErr(err)
	v.at.Forge()
	_, err = v.comes()
	v.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
}

// A browser must come back with the state with which it was sent.
func TestReturn(t *testing.T) {
	v := visit(t)
	for name, change := range map[string]func(url.Values){
		"state":    func(q url.Values) { q.Set("state", "another") },
		"no state": func(q url.Values) { q.Del("state") },
		"issuer":   func(q url.Values) { q.Set("iss", "https://evil.example") },
		"refusal":  func(q url.Values) { q.Set("error", "access_denied") },
		"no code":  func(q url.Values) { q.Del("code") },
	} {
		query, secret := v.goes(false)
		change(query)
		_, err := v.Finish(t.Context(), secret, query)
		if !errors.Is(err, imagegen.ErrInvalidRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A code works once, and only in the browser that asked for it.
func TestReplayedCode(t *testing.T) {
	v := visit(t)
	query, secret := v.goes(false)
	_, err := v.Finish(t.Context(), secret, query)
	v.is.NoErr(err)
	_, err = v.Finish(t.Context(), secret, query)
	v.is.True(errors.Is(err, imagegen.ErrInvalidRequest))

	stolen, _ := v.goes(false)
	mine, secret := v.goes(false)
	mine.Set("code", stolen.Get("code"))
	_, err = v.Finish(t.Context(), secret, mine)
	v.is.True(errors.Is(err, imagegen.ErrInvalidRequest)) // another verifier
}

// A renewed authentication must be newer than the request for it.
func TestAgain(t *testing.T) {
	v := visit(t)
	query, secret := v.goes(true)
	_, err := v.Finish(t.Context(), secret, query)
	v.is.NoErr(err)
	for _, lie := range []func(map[string]any){
		func(c map[string]any) { c["auth_time"] = time.Now().Add(-time.Hour).Unix() },
		func(c map[string]any) { delete(c, "auth_time") },
	} {
		v.at.Lie(lie)
		_, err = v.comes()
		v.is.NoErr(err)
		query, secret = v.goes(true)
		_, err = v.Finish(t.Context(), secret, query)
		v.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
	}
}

func TestRoles(t *testing.T) {
	for _, test := range []struct {
		claim string
		held  any
		want  account.Role
	}{
		{"groups", []any{"staff", "imagegend-operators"}, account.RoleOperator},
		{"groups", "imagegend-operators", account.RoleOperator},
		{"groups", []any{"staff"}, account.RoleUser},
		{"groups", "imagegend-operators-not", account.RoleUser},
		{"groups", 7, account.RoleUser},
		{"other", "imagegend-operators", account.RoleUser},
	} {
		v := visit(t, func(c *oidc.Config) { c.RoleClaim, c.OperatorValue = "groups", "imagegend-operators" })
		v.at.SignIn("1", test.claim, test.held)
		who, err := v.comes()
		v.is.NoErr(err)
		v.is.Equal(who.Role, test.want)
	}
	for _, claim := range []string{"realm_access.roles", "https://claims.example/roles"} {
		v := visit(t, func(c *oidc.Config) { c.RoleClaim, c.OperatorValue = claim, "ops" })
		v.at.SignIn("1", "realm_access", map[string]any{"roles": []string{"ops"}}, "https://claims.example/roles",
			"ops")
		who, err := v.comes()
		v.is.NoErr(err)
		v.is.Equal(who.Role, account.RoleOperator)
	}
}

// An issuer that is down, or names itself otherwise, causes an internal error, and is asked again later.
func TestDiscovery(t *testing.T) {
	v := visit(t, func(c *oidc.Config) { c.Issuer += "/" })
	for range 2 {
		_, _, err := v.Begin(t.Context(), callback, false)
		v.is.True(err != nil && !errors.Is(err, imagegen.ErrInvalidRequest))
	}
	v.is.NoErr(visit(t).Discover(t.Context()))
}

// Nobody waits behind others for an issuer that says nothing.
func TestSilentIssuer(t *testing.T) {
	is := is.New(t)
	asked, silent := make(chan struct{}, 1), make(chan struct{})
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-silent
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer issuer.Close()
	answer := sync.OnceFunc(func() { close(silent) })
	defer answer()
	p, err := oidc.New(oidc.Config{Issuer: issuer.URL, ClientID: oidctest.ClientID})
	is.NoErr(err)
	first := make(chan error)
	go func() { first <- p.Discover(t.Context()) }()
	<-asked
	gone, leave := context.WithCancel(t.Context())
	leave()
	is.True(errors.Is(p.Discover(gone), context.Canceled))
	select {
	case <-first:
		t.Fatal("it waited for another one's answer")
	default:
	}
	answer()
	is.True(<-first != nil)
	is.True(p.Discover(t.Context()) != nil)
	<-asked // again
}

// An issuer's answers are read up to a limit. Addresses that it names must not lead into a private network, except to
// its own host.
func TestGuardedClient(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request, issuer string){
		"endless": func(w http.ResponseWriter, _ *http.Request, _ string) {
			io.WriteString(w, `{"issuer":"`)
			for mebibytes := 0; ; mebibytes++ {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
				if mebibytes > 100 { // far more than the buffers of a connection hold
					t.Error("the answer is read without a bound")
					return
				}
			}
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request, issuer string) {
			http.Redirect(w, r, strings.Replace(issuer, "127.0.0.1", "localhost", 1)+"/description", http.StatusFound)
		},
		"an endpoint": func(w http.ResponseWriter, _ *http.Request, issuer string) {
			elsewhere := strings.Replace(issuer, "127.0.0.1", "localhost", 1)
			fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"jwks_uri":%q}`, issuer,
				issuer, elsewhere+"/token", elsewhere)
		},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			var issuer string
			var elsewhere atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.Host, "localhost") {
					elsewhere.Add(1)
				}
				answer(w, r, issuer)
			}))
			defer s.Close()
			issuer = s.URL
			p, err := oidc.New(oidc.Config{Issuer: issuer, ClientID: "x"})
			is.NoErr(err)
			address, secret, err := p.Begin(t.Context(), callback, false)
			if name == "an endpoint" {
				is.NoErr(err)
				asked, err := url.Parse(address)
				is.NoErr(err)
				_, err = p.Finish(t.Context(), secret, url.Values{"state": {asked.Query().Get("state")}, "code": {"x"}})
				is.True(err != nil)
				is.True(strings.Contains(err.Error(), "not a public address"))
			} else {
				is.True(err != nil)
			}
			is.Equal(elsewhere.Load(), int32(0))
		})
	}
}

func TestConfig(t *testing.T) {
	is := is.New(t)
	for _, c := range []oidc.Config{
		{ClientID: "x"},
		{Issuer: "http://id.example.com", ClientID: "x"}, // in clear
		{Issuer: "https://id.example.com?x=1", ClientID: "x"},
		{Issuer: "https://id.example.com"},
		{Issuer: "https://id.example.com", ClientID: "x", RoleClaim: "groups"},
	} {
		_, err := oidc.New(c)
		is.True(err != nil)
	}
	_, err := oidc.New(oidc.Config{})
	is.True(strings.Contains(err.Error(), "issuer") && strings.Contains(err.Error(), "client"))
}
