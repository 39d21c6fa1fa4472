package browsertest_test

import (
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/console"
)

// The first operator is created by a link that works once.
func TestSetup(t *testing.T) {
	s := open(t)
	link, err := console.SetupLink(t.Context(), s.db, s.clock.Now().Add(15*time.Minute))
	s.is.NoErr(err)
	tab := s.tab()
	tab.open(link, 200)
	tab.fill("Name", "olivia")
	tab.fill("New password", "correct horse battery")
	tab.fill("Repeat the new password", "correct horse buttery")
	tab.press("Become the operator", 422)
	s.is.Equal(evaluate[string](tab, `document.activeElement.name`), "again") // what is wrong has the focus
	tab.fill("New password", "correct horse battery")
	tab.fill("Repeat the new password", "correct horse battery")
	tab.press("Become the operator", 200)
	tab.shows("Welcome. You are the operator of this service.", "olivia", "Users", "System")

	tab.open("users", 200)
	tab.press("Sign out", 200)
	tab.open(link, 404)
	tab.open("signin", 200)
	tab.signIn("olivia", "correct horse battery", 200)
	tab.open("system", 200)
}

// A user signs in with the link that an operator passes on.
func TestInvitation(t *testing.T) {
	s := open(t)
	operator := s.signedIn(s.user("olivia", "operator"))
	operator.open("users/new", 200)
	operator.fill("Name", "alice")
	operator.press("Make the link", 200)
	link := evaluate[string](operator, `document.getElementById("link").textContent`)

	tab := s.tab()
	tab.open(link, 200)
	tab.shows("Welcome, alice")
	tab.fill("New password", secret)
	tab.fill("Repeat the new password", secret)
	tab.press("Set the password", 200)
	tab.shows("Playground")
	tab.lacks("Users", "System")
	tab.open("users", 404)
	tab.open(link, 404)
}
