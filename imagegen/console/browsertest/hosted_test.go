package browsertest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// hostedBy is a program that signs people in by a cookie with their identifier.
func hostedBy(operator imagegen.UserID) *console.Host {
	return &console.Host{SignIn: "/login", SignOut: "/logout",
		Authenticate: func(r *http.Request) (engine.Caller, error) {
			c, err := r.Cookie(cookieName)
			if err != nil {
				return engine.Caller{}, imagegen.ErrMissingKey
			}
			return engine.Caller{User: imagegen.UserID(c.Value), Name: c.Value}, nil
		},
		Operator: func(c engine.Caller) bool { return c.User == operator }}
}

// signedInByHost is a tab of somebody whom the program has signed in.
func (s *site) signedInByHost(u imagegen.UserID) *tab {
	s.Helper()
	t := s.tab()
	t.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, network.SetCookie, network.SetCookieParams{Name: cookieName, Value: string(u),
			URL: s.address, HTTPOnly: new(true)})
		return err
	}))
	return t
}

// The pages that differ under the sign-in of a program have every look, as those of TestPages have.
func TestHostedPages(t *testing.T) {
	f := furnish(t)
	f.host = hostedBy(f.olivia.ID)
	f.serve()
	alice := f.signedInByHost(f.alice.ID)
	for _, p := range []view{
		{"hosted-playground", "playground", 200, nil},
		{"hosted-generation", "generations/" + string(f.whole.ID), 200, nil},
		{"hosted-credits", "credits", 200, nil},
		{"hosted-key-created", "keys", 200, func(t *tab) { t.createKey("build server", 200) }},
	} {
		alice.inspect(p)
	}
	olivia := f.signedInByHost(f.olivia.ID)
	for _, p := range []view{
		{"hosted-users", "users", 200, nil},
		{"hosted-user", "users/" + string(f.alice.ID), 200, func(t *tab) {
			t.unfold("Grant credits")
			t.fill("Credits", "5")
			t.press("Grant", 200)
		}},
	} {
		olivia.inspect(p)
		olivia.lacks("Invite", "Passkeys")
	}
}
