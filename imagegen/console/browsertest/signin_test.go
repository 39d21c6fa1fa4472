package browsertest_test

import (
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/account"
)

func TestSignIn(t *testing.T) {
	s := open(t)
	s.user("alice", account.RoleUser)
	tab := s.tab()
	tab.open("account", 200)
	s.is.Equal(tab.path(), "signin") // which leads back from there
	tab.signIn("alice", "wrong horse battery", 422)
	s.is.Equal(evaluate[string](tab, `document.querySelector("[name=name]").value`), "alice")
	s.is.Equal(evaluate[string](tab, `document.querySelector("[name=password]").value`), "")
	wrong := evaluate[string](tab, `document.querySelector("[role=alert]").textContent`)
	tab.signIn("nobody of this name", secret, 422)
	// the answer does not show which names exist
	s.is.Equal(evaluate[string](tab, `document.querySelector("[role=alert]").textContent`), wrong)
	tab.signIn("alice", secret, 200)
	s.is.Equal(tab.path(), "account")
	s.is.Equal(evaluate[string](tab, `document.cookie`), "") // no script sees it

	tab.press("Sign out", 200)
	tab.open("account", 200)
	s.is.Equal(tab.path(), "signin")
}

// After too many failures even the right password is refused.
func TestTooManyFailures(t *testing.T) {
	s := open(t)
	s.user("alice", account.RoleUser)
	tab := s.tab()
	tab.open("signin", 200)
	for range 5 {
		tab.signIn("alice", "wrong horse battery", 422)
	}
	tab.signIn("alice", secret, 429)
	s.clock.Advance(time.Hour)
	tab.signIn("alice", secret, 200)
}

func TestExpiry(t *testing.T) {
	s := open(t)
	tab := s.signedIn(s.user("alice", account.RoleUser))
	for range 25 { // use keeps it alive, until half a day is over
		s.clock.Advance(28 * time.Minute)
		tab.open("account", 200)
		s.is.Equal(tab.path(), "account")
	}
	s.clock.Advance(28 * time.Minute)
	tab.open("account", 200)
	s.is.Equal(tab.path(), "signin")
	tab.signIn("alice", secret, 200)
	s.is.Equal(tab.path(), "account")
	s.clock.Advance(31 * time.Minute) // without use it ends sooner
	tab.press("Generations", 200)
	s.is.Equal(tab.path(), "signin")
	tab.signIn("alice", secret, 200)
	s.is.Equal(tab.path(), "generations")
}
