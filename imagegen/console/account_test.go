package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/account"
)

func TestAccount(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.Grant(t, v.user.ID, 12345)
	a := v.get("account")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("<dd>alice</dd>", "<dd>FREE</dd>", "12,345", "Firefox on Linux", "this one", `<time datetime="`))
	s.is.True(!a.has("Sign out everywhere else"))
	s.is.True(a.has(`href="/console/account" aria-current="page"`))
	s.is.True(!a.has("/console/users")) // that is for operators
	s.is.True(s.operator().get("account").has("/console/users"))
}

func TestSignOutElsewhere(t *testing.T) {
	s := open(t)
	here := s.signedIn("alice")
	bob := s.signedIn("bob")
	elsewhere := make([]*visitor, 3)
	for i := range elsewhere {
		elsewhere[i] = s.visitor()
		elsewhere[i].post("signin", "name", "alice", "password", secret)
	}
	a := here.get("account")
	s.is.True(a.has("Sign out everywhere else"))
	s.is.Equal(strings.Count(a.body, `name="signin"`), 3)
	s.is.True(a.has(`Sign out<span class="unseen"> of Unknown browser</span></button>`)) // screen readers say which one
	s.is.True(a.has("A browser is signed out after 30 minutes without use, and after 12 hours in any case."))

	_, id, _ := strings.Cut(a.body, `name="signin" value="`)
	a = here.post("account/signins/end", "signin", id[:64])
	s.is.True(here.follow(a).has("Signed out in 1 browser."))
	in := 0
	for _, v := range elsewhere {
		if v.get("account").StatusCode == http.StatusOK {
			in++
		}
	}
	s.is.Equal(in, 2)

	// A user cannot end another user's sign-in.
	a = bob.post("account/signins/end", "signin", id[:64])
	s.is.True(bob.follow(a).has("It is signed out already."))

	a = here.post("account/signins/end")
	s.is.True(here.follow(a).has("Signed out in 2 browsers."))
	for _, v := range elsewhere {
		s.is.True(v.get("account").redirected() != "")
	}
	a = here.post("account/signins/end") // there is no other
	s.is.True(here.follow(a).has("You are signed in nowhere else."))
	s.is.Equal(here.get("account").StatusCode, http.StatusOK)
	s.is.Equal(bob.get("account").StatusCode, http.StatusOK)
}

// A sign-in that has ended by itself is neither listed nor counted.
func TestSignOutOfWhatHasEnded(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	early := s.visitor()
	early.post("signin", "name", "alice", "password", secret)
	s.clock.Advance(20 * time.Minute)
	late := s.as(alice)
	_, id, _ := strings.Cut(late.get("account").body, `name="signin" value="`)
	s.clock.Advance(15 * time.Minute)
	s.is.True(late.follow(late.post("account/signins/end")).has("You are signed in nowhere else."))
	s.is.True(late.follow(late.post("account/signins/end", "signin", id[:64])).has("It is signed out already."))
}

func TestChangePassword(t *testing.T) {
	const next = "a quite different one"
	s := open(t)
	v := s.signedIn("alice")
	other := s.visitor()
	other.post("signin", "name", "alice", "password", secret)
	old := v.cookies["imagegen"]

	a := v.post("account/password", "present", "not the present one", "password", next, "again", next)
	s.is.Equal(a.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(a.has("This is not your present password."))
	a = v.post("account/password", "present", secret, "password", next, "again", secret)
	s.is.True(a.has("This is not the same as the password above."))
	s.is.Equal(other.get("account").StatusCode, http.StatusOK)

	a = v.post("account/password", "present", secret, "password", next, "again", next)
	s.is.Equal(a.redirected(), "/console/account")
	s.is.True(v.follow(a).has("Your password is changed. You are signed out everywhere else."))
	s.is.True(v.cookies["imagegen"] != old)
	s.is.True(other.get("account").redirected() != "")
	s.is.True(s.visitor().post("signin", "name", "alice", "password", secret).has(wrong))
	s.is.True(s.visitor().post("signin", "name", "alice", "password", next).redirected() != "")
}

// An operator stays one.
func TestChangePasswordKeepsTheRole(t *testing.T) {
	s := open(t)
	v := s.operator()
	v.post("account/password", "present", secret, "password", "a quite different one", "again", "a quite different one")
	l, err := s.config.Logins.Login(t.Context(), v.user.ID)
	s.is.NoErr(err)
	s.is.Equal(l.Role, account.RoleOperator)
	s.is.Equal(l.ChangedAt, s.clock.Now())
}

// Somebody who finds a browser open cannot guess the password on the account page either.
func TestChangePasswordLimit(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	try := func(present string) answer {
		return v.post("account/password", "present", present, "password", "a quite different one", "again",
			"a quite different one")
	}
	for range 5 {
		s.is.True(try("guess").has("This is not your present password."))
	}
	s.is.True(try(secret).has("Too many attempts. Try again in 60 seconds."))
	s.clock.Advance(time.Minute)
	s.is.Equal(try(secret).redirected(), "/console/account")
}
