package console_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

func (s *site) entry(u imagegen.User) string {
	s.Helper()
	path, err := console.SignInLink(s.Context(), s.config.Logins, u.ID, account.RoleUser, s.clock.Now().Add(time.Hour))
	s.is.NoErr(err)
	return path
}

func TestEntry(t *testing.T) {
	s := open(t)
	link := s.entry(s.newcomer("dev"))
	v := s.visitor()
	s.is.True(v.get(link).has("Sign in as dev"))
	s.is.True(v.get("account").redirected() != "") // to look at it signs nobody in
	s.is.Equal(v.post(link).redirected(), "/console/")
	s.is.True(v.get("account").has("<dd>dev</dd>", "<dd>user</dd>"))
	s.is.True(v.get(link).has(gone))
	s.is.Equal(s.visitor().post(link).StatusCode, http.StatusNotFound)
}

func TestEntryEnds(t *testing.T) {
	s := open(t)
	alice, bob := s.signedIn("alice").user, s.newcomer("bob")
	first, second, bobs := s.entry(alice), s.entry(alice), s.entry(bob)
	s.is.True(s.visitor().get(first).has(gone))
	s.is.True(s.visitor().get(second).has("alice"))
	s.is.NoErr(s.Accounts().DisableUser(t.Context(), bob.ID))
	s.is.True(s.visitor().post(bobs).has(gone))
	s.clock.Advance(time.Hour)
	s.is.True(s.visitor().post(second).has(gone))
	// the password stands
	s.is.Equal(s.visitor().post("signin", "name", "alice", "password", secret).redirected(), "/console/")

	// a link is for one purpose
	s.is.True(s.visitor().post("entry/" + s.invite(alice, account.RoleUser)[len("invitation/"):]).has(gone))
	s.is.True(s.visitor().get("invitation/" + s.entry(alice)[len("entry/"):]).has(gone))
}

// The account page of a user without a password says how to get one.
func TestEntryWithoutAPassword(t *testing.T) {
	s := open(t)
	v := s.visitor()
	v.post(s.entry(s.newcomer("dev")))
	a := v.get("account")
	s.is.True(a.has("With another link from an operator you can choose one."))
	s.is.True(!a.has("account/password"))
	s.is.True(s.signedIn("alice").get("account").has("account/password"))
}
