package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/console/oidc/oidctest"
)

// People sign in by the provider that the settings name, become users where that is allowed, and are operators as long
// as the provider says so; the trail has its refusals.
func TestSignInByOIDC(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	at := oidctest.Start(t)
	secret := filepath.Join(t.TempDir(), "secret")
	is.NoErr(os.WriteFile(secret, []byte(oidctest.Secret+"\n"), 0o600))
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--oidc-issuer", at.URL, "--oidc-client-id",
		oidctest.ClientID, "--oidc-secret-file", secret, "--oidc-role-claim", "groups", "--oidc-operators", "ops",
		"--oidc-create-users"}})
	at.SignIn("1", "preferred_username", "olivia", "groups", []string{"ops"})
	b := newBrowser(t)
	_, where, _ := b.see(b.Get(d.URL + "/console/signin/provider"))
	is.Equal(where, "/console/playground")
	status, _, _ := b.see(b.Get(d.URL + "/console/system"))
	is.Equal(status, http.StatusOK)
	says(t, d.Admin("user", "list"), "olivia", "operator")
	says(t, d.Admin("trail"), "identity.create", "console:olivia", "user.signin")

	at.Lie(func(claims map[string]any) { claims["exp"] = time.Now().Add(-time.Hour).Unix() })
	status, _, _ = b.see(newBrowser(t).Get(d.URL + "/console/signin/provider"))
	is.Equal(status, http.StatusBadRequest)
	until(t, "the refusal is in the trail", func() bool {
		return d.Admin("trail", "--act", "user.signin_failed", "--json") != ""
	})
}

// Settings that do not go together are refused at the start, and name what is missing.
func TestOIDCSettings(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	is.New(t).NoErr(os.WriteFile(empty, nil, 0o600))
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--oidc-client-id", "x"}, "--oidc-issuer"},
		{[]string{"--oidc-issuer", "https://id.example.com"}, "--oidc-client-id"},
		{[]string{"--oidc-issuer", "http://id.example.com", "--oidc-client-id", "x"}, "https://id.example.com"},
		{[]string{"--oidc-issuer", "https://id.example.com", "--oidc-client-id", "x", "--oidc-role-claim", "groups"},
			"--oidc-operators"},
		{[]string{"--oidc-issuer", "https://id.example.com", "--oidc-client-id", "x", "--oidc-secret-file", "gone"},
			"--oidc-secret-file"},
		{[]string{"--oidc-issuer", "https://id.example.com", "--oidc-client-id", "x", "--oidc-secret-file", empty},
			"is empty"},
	} {
		d := daemontest.Launch(t, daemontest.Options{Args: test.args})
		is.New(t).Equal(d.Wait(drainLimit), 1)
		says(t, d.Output(), test.want)
	}
}
