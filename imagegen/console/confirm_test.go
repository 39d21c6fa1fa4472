package console_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen/account"
)

const nothingDone = "Nothing has been done yet."

// confirm sends the form that waits with a password.
func (v *visitor) confirm(path string, a answer, password string) answer {
	v.Helper()
	return v.post(path, append(a.kept(), "confirm_password", password)...)
}

// What lasts is asked about again five minutes after the sign-in; what was entered is kept, and done once the
// password is right.
func TestConfirm(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.clock.Advance(5 * time.Minute)
	a := v.post("keys", "name", `"scripts" & <more>`, "life", "30")
	s.is.Equal(a.StatusCode, http.StatusForbidden)
	s.is.True(a.has(nothingDone, `action="/console/keys"`, `href="/console/keys">Cancel`))
	s.is.Equal(cmp.Diff([]string{"life", "30", "name", `"scripts" & <more>`}, a.kept()), "")

	wrong := v.confirm("keys", a, "not the password")
	s.is.Equal(wrong.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(wrong.has(nothingDone, "This is not your present password.") && !wrong.has("not the password"))
	s.is.Equal(cmp.Diff(a.kept(), wrong.kept()), "")
	s.is.True(v.confirm("keys", a, "").has("This is not your present password.")) // left empty, it is asked for again
	ks, err := s.Accounts().Keys(t.Context(), v.user.ID)
	s.is.NoErr(err)
	s.is.Equal(len(ks), 0)

	s.is.True(v.follow(v.confirm("keys", wrong, secret)).has("img_live_"))
	ks, err = s.Accounts().Keys(t.Context(), v.user.ID)
	s.is.NoErr(err)
	s.is.Equal(len(ks), 1)
	s.is.Equal(ks[0].Name, `"scripts" & <more>`)

	s.clock.Advance(5*time.Minute - time.Second)
	s.is.True(v.post("keys", "name", "another", "life", "never").redirected() != "") // remembered
	s.clock.Advance(time.Second)
	s.is.Equal(v.post("keys", "name", "a third", "life", "never").StatusCode, http.StatusForbidden) // from the password on, not from the last use
}

// One browser's confirmation is none of another's, and a clock that was put back confirms nothing.
func TestConfirmInOneBrowser(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.clock.Advance(10 * time.Minute)
	other := s.visitor()
	other.post("signin", "name", "alice", "password", secret) // a sign-in is a confirmation
	s.is.True(other.post("keys", "name", "k", "life", "never").redirected() != "")
	s.is.Equal(v.post("keys", "name", "k", "life", "never").StatusCode, http.StatusForbidden)
	s.clock.Advance(-time.Minute)
	s.is.Equal(other.post("keys", "name", "k", "life", "never").StatusCode, http.StatusForbidden)
}

// Who finds a browser open cannot guess the password there.
func TestConfirmLimit(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.clock.Advance(5 * time.Minute)
	a := v.post("keys", "name", "k", "life", "never")
	for range 5 {
		s.is.True(v.confirm("keys", a, "guess").has("This is not your present password."))
	}
	s.is.True(v.confirm("keys", a, secret).has("Too many attempts. Try again in 60 seconds."))
}

// Who came by a link and has no password has nothing to be asked for; who has one is asked.
func TestConfirmAfterALink(t *testing.T) {
	for password, want := range map[string]int{"": http.StatusSeeOther, hashed: http.StatusForbidden} {
		s := open(t)
		u := s.newcomer("alice")
		s.is.NoErr(s.config.Logins.SetLogin(t.Context(), account.Login{User: u.ID, Role: account.RoleUser, Password: password}))
		v := s.visitor()
		s.is.Equal(v.post(s.entry(u)).redirected(), "/console/")
		s.is.Equal(v.post("keys", "name", "k", "life", "never").StatusCode, want)
	}
}

// Every form that gives something away or takes it asks, and has done nothing before.
func TestWhatIsConfirmed(t *testing.T) {
	s := open(t)
	v, alice := s.operator(), s.newcomer("alice")
	at := "users/" + string(alice.ID)
	_, key, err := s.Accounts().MintKey(t.Context(), alice.ID, "laptop", time.Time{})
	s.is.NoErr(err)
	_, own, err := s.Accounts().MintKey(t.Context(), v.user.ID, "mine", time.Time{})
	s.is.NoErr(err)
	s.clock.Advance(5 * time.Minute)
	for path, form := range map[string][]string{
		"users":                              {"name", "bob", "role", "user", "days", "3"},
		at + "/invitation":                   {"role", "operator", "days", "3"},
		at + "/grants":                       {"credits", "5", "once", "x"},
		at + "/revocations":                  {"credits", "5", "once", "y"},
		at + "/disable":                      {},
		"keys":                               {"name", "script", "life", "never"},
		"keys/" + string(own.ID) + "/revoke": {},
		at + "/keys/" + string(key.ID) + "/revoke": {},
	} {
		news := s.news(func() {
			a := v.post(path, form...)
			s.is.Equal(a.StatusCode, http.StatusForbidden)
			s.is.True(a.has(nothingDone))
		})
		s.is.Equal(len(news), 0)
	}
}
