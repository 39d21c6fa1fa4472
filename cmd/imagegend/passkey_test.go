package main_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/console/passkey/passkeytest"
)

var promptForm = regexp.MustCompile(`(?s)action="([^"]+)" data-passkey="(make|use)" data-options="([^"]*)".*?name="passkey_ceremony" value="([^"]+)"`)

// prove sends the form of a page with what a device proves, as its script does.
func (b *browser) prove(base, body string, device *passkeytest.Authenticator) (where string) {
	b.Helper()
	m := promptForm.FindStringSubmatch(body)
	if m == nil {
		b.Fatalf("no passkey is asked for:\n%s", body)
	}
	answer := device.Use
	if m[2] == "make" {
		answer = device.Make
	}
	_, where, _ = b.see(b.PostForm(base+m[1], url.Values{"passkey_ceremony": {m[4]},
		"passkey_answer": {string(answer([]byte(html.UnescapeString(m[3]))))}}))
	return where
}

// An operator makes the passkey that is demanded, is asked for it after the password, and signs in without once it is
// removed.
func TestRequirePasskey(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const origin = "http://localhost:8080"
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--operator-password-file", passwordFile(t),
		"--base-url", origin, "--require-passkey", "operators"}})
	device, b := passkeytest.New(t, origin, "localhost"), newBrowser(t)
	is.Equal(b.signIn(d.URL, "operator"), "/console/playground")
	_, where, _ := b.see(b.Get(d.URL + "/console/users"))
	is.Equal(where, "/console/account")
	_, _, body := b.see(b.PostForm(d.URL+"/console/account/passkeys/new", url.Values{"passkey_name": {"laptop"}}))
	is.Equal(b.prove(d.URL, body, device), "/console/account")
	status, where, _ := b.see(b.Get(d.URL + "/console/users"))
	is.Equal(status, http.StatusOK)
	is.Equal(where, "/console/users")

	b = newBrowser(t)
	_, _, body = b.see(b.PostForm(d.URL+"/console/signin", url.Values{"name": {"operator"}, "password": {password}}))
	_, where, _ = b.see(b.Get(d.URL + "/console/account"))
	is.Equal(where, "/console/signin") // the password alone is not enough
	is.Equal(b.prove(d.URL, body, device), "/console/playground")

	d.Admin("user", "remove-passkeys", "operator")
	says(t, d.Admin("trail", "--act", "passkey"), "passkey.create", "passkey.remove", "laptop")
	is.Equal(newBrowser(t).signIn(d.URL, "operator"), "/console/playground")
}

// A passkey belongs to an address that has a name.
func TestRequirePasskeyNeedsAnAddress(t *testing.T) {
	for _, args := range [][]string{nil, {"--base-url", "https://192.0.2.1"},
		{"--base-url", "http://images.example.com"}} {
		d := daemontest.Launch(t, daemontest.Options{Args: append([]string{"--require-passkey", "operators"}, args...)})
		is.New(t).Equal(d.Wait(drainLimit), 1)
		says(t, d.Output(), "--require-passkey", "--base-url")
	}
}
