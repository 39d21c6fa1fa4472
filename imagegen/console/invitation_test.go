package console_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

func (s *site) invite(u imagegen.User, role account.Role) string {
	s.Helper()
	path, err := console.InvitationLink(s.Context(), s.config.Logins, u.ID, role, s.clock.Now().Add(time.Hour))
	s.is.NoErr(err)
	return path
}

func (s *site) newcomer(name string) imagegen.User {
	s.Helper()
	u, err := s.Accounts().CreateUser(s.Context(), name, "")
	s.is.NoErr(err)
	return u
}

func TestInvitation(t *testing.T) {
	s := open(t)
	link := s.invite(s.newcomer("alice"), account.RoleUser)
	v := s.visitor()
	s.is.True(v.get(link).has("Welcome, alice", `minlength="12" maxlength="200"`, "At least 12 characters."))
	a := v.post(link, "password", secret, "again", "")
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has("This is not the same as the password above."))
	a = v.post(link, "password", secret, "again", secret)
	s.is.Equal(a.redirected(), "/console/")
	s.is.True(v.get("account").has("Your password is set, and you are signed in.", "<dd>user</dd>"))
	s.is.True(v.get(link).has(gone))
	s.is.Equal(s.visitor().post("signin", "name", "alice", "password", secret).redirected(), "/console/")
}

// A link can replace a forgotten password: the old password works until the link is used, and then ends with all
// sign-ins.
func TestInvitationAnew(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	link := s.invite(v.user, account.RoleOperator)
	s.is.Equal(v.get("account").StatusCode, http.StatusOK)
	other := s.visitor()
	s.is.Equal(other.post(link, "password", "another password", "again", "another password").redirected(), "/console/")
	s.is.True(v.get("account").redirected() != "")
	s.is.True(s.visitor().post("signin", "name", "alice", "password", secret).has(wrong))
	s.is.True(other.get("account").has("<dd>operator</dd>"))
}

func TestInvitationEnds(t *testing.T) {
	s := open(t)
	alice, bob := s.newcomer("alice"), s.newcomer("bob")
	first, second, bobs := s.invite(alice, account.RoleUser), s.invite(alice, account.RoleUser),
		s.invite(bob, account.RoleUser)
	s.is.True(s.visitor().get(first).has(gone)) // a newer one took its place
	s.is.True(s.visitor().get(second).has("Welcome, alice"))

	s.is.NoErr(s.Accounts().DisableUser(t.Context(), bob.ID))
	s.is.True(s.visitor().get(bobs).has(gone))
	s.is.True(s.visitor().post(bobs, "password", secret, "again", secret).has(gone))

	s.clock.Advance(time.Hour)
	s.is.True(s.visitor().get(second).has(gone))
	s.is.True(s.visitor().post(second, "password", secret, "again", secret).has(gone))
	s.is.True(s.visitor().get("invitation/guess").has(gone))
}

// The token of one kind of link does not work in another.
func TestLinksAreNotExchanged(t *testing.T) {
	s := open(t)
	setup := s.setup()
	invitation := s.invite(s.newcomer("alice"), account.RoleUser)
	s.is.True(s.visitor().get("invitation/" + setup[len("setup/"):]).has(gone))
	s.is.True(s.visitor().get("setup/" + invitation[len("invitation/"):]).has(gone))
}

// If many browsers use a link at once, one of them sets the password.
func TestInvitationOnce(t *testing.T) {
	s := open(t)
	link := s.invite(s.newcomer("alice"), account.RoleUser)
	var set atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		v := s.visitor()
		wg.Go(func() {
			if v.post(link, "password", secret, "again", secret).redirected() != "" {
				set.Add(1)
			}
		})
	}
	wg.Wait()
	s.is.Equal(set.Load(), int64(1))
}
