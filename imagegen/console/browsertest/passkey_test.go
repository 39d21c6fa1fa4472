package browsertest_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/console/passkey"
)

// openWithPasskeys is a site where operators need a passkey. It has a host name, since passkeys do not work at an IP
// address.
func openWithPasskeys(t *testing.T) *site {
	t.Helper()
	s := open(t)
	server := httptest.NewUnstartedServer(nil)
	s.address = strings.Replace("http://"+server.Listener.Addr().String(), "127.0.0.1", "localhost", 1)
	p, err := passkey.New(passkey.Config{Origin: s.address})
	s.is.NoErr(err)
	server.Config.Handler, err = console.New(console.Config{Engine: s.Engine, Ledger: s.db, Logins: s.db,
		Now: s.clock.Now, Passkeys: p, OperatorsNeedPasskey: true})
	s.is.NoErr(err)
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// device gives the tab an authenticator that verifies its user at once.
func (t *tab) device() {
	t.Helper()
	t.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, webauthn.AddVirtualAuthenticator,
			webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
				Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
				HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true}})
		return err
	}))
}

// An operator can create a passkey, sign in and confirm with it, and remove it.
func TestPasskey(t *testing.T) {
	s := openWithPasskeys(t)
	olivia := s.signedIn(s.user("olivia", account.RoleOperator))
	olivia.device()
	olivia.open("users", 200)
	s.is.Equal(olivia.path(), "account")
	olivia.shows("Operators need a passkey here.")
	olivia.inspect(view{"passkey-new", "account", 200, func(t *tab) {
		t.fill("Name of a new passkey", "laptop")
		t.press("Make a passkey", 200)
	}})
	olivia.press("Make the passkey", 200)
	olivia.shows("The passkey “laptop” is yours.", "Last used")
	olivia.inspect(view{"account-passkeys", "account", 200, nil})
	olivia.press("Users", 200)
	s.is.Equal(olivia.path(), "users")

	olivia.press("Sign out", 200)
	olivia.inspect(view{"passkey", "signin", 200, func(t *tab) { t.signIn("olivia", secret, 200) }})
	olivia.shows("Use your passkey")
	olivia.press("Use the passkey", 200)
	s.is.Equal(olivia.path(), "playground")

	s.clock.Advance(10 * time.Minute)
	olivia.press("API keys", 200)
	olivia.fill("Name", "build server")
	olivia.press("Create the key", 403)
	olivia.press("Use a passkey", 200)
	olivia.shows("build server", "img_live_")

	olivia.open("account", 200)
	olivia.press("Remove", 200)
	olivia.shows("The passkey is removed.")
	olivia.lacks("laptop")
}

// Without scripts the page says that it needs them.
func TestPasskeyWithoutScripts(t *testing.T) {
	s := openWithPasskeys(t)
	tab := s.signedIn(s.user("alice", account.RoleUser))
	tab.withoutScripts()
	tab.open("account", 200)
	tab.fill("Name of a new passkey", "laptop")
	tab.press("Make a passkey", 200)
	tab.shows("Passkeys need JavaScript")
	tab.lacks("Make the passkey")
}
