package browsertest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen/account"
)

// Another site's page makes the browser post a form: from another site, without the cookie, and from another origin of
// the same site, with it.
func TestForgery(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	tab := s.signedIn(alice)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<!doctype html><title>Win a prize</title><link rel="icon" href="data:,">
			<form method="post" action="%s/console/keys"><input name="name" value="forged"><button>Win</button></form>`,
			s.address)
	}))
	t.Cleanup(evil.Close)
	for _, origin := range []string{evil.URL, strings.Replace(evil.URL, "127.0.0.1", "localhost", 1)} {
		tab.eyes.allow(origin)
		tab.open(origin, 200)
		tab.press("Win", 403)
		keys, err := s.Accounts().Keys(t.Context(), alice.ID)
		s.is.NoErr(err)
		s.is.Equal(len(keys), 0)
	}
	tab.open("account", 200) // and she is signed in as before
	s.is.Equal(tab.path(), "account")
}
