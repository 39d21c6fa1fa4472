package console_test

import (
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

const nothingDone = "Nothing has been done yet."

// confirm sends the form that waits with a password.
func (v *visitor) confirm(path string, a answer, password string) answer {
	v.Helper()
	return v.post(path, append(a.hiddenFields(), "confirm_password", password)...)
}

// Five minutes after the sign-in, an action of consequence asks for the password. The form keeps what was entered, and
// the action happens once the password is right.
func TestConfirm(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.clock.Advance(5 * time.Minute)
	a := v.post("keys", "name", `"scripts" & <more>`, "life", "30")
	s.is.Equal(a.StatusCode, http.StatusForbidden)
	s.is.True(a.has(nothingDone, `action="/console/keys"`, `href="/console/keys">Cancel`))
	s.is.Equal(cmp.Diff([]string{"life", "30", "name", `"scripts" & <more>`}, a.hiddenFields()), "")

	wrong := v.confirm("keys", a, "not the password")
	s.is.Equal(wrong.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(wrong.has(nothingDone, "This is not your present password.") && !wrong.has("not the password"))
	s.is.Equal(cmp.Diff(a.hiddenFields(), wrong.hiddenFields()), "")
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
	// from the password on, not from the last use
	s.is.Equal(v.post("keys", "name", "a third", "life", "never").StatusCode, http.StatusForbidden)
}

// A confirmation counts in one browser only, and not after the clock was put back.
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

// Somebody who finds a browser open cannot guess the password there.
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

// A user who came by a link is asked for the password, unless they have none.
func TestConfirmAfterALink(t *testing.T) {
	for password, want := range map[string]int{"": http.StatusSeeOther, hashed: http.StatusForbidden} {
		s := open(t)
		u := s.newcomer("alice")
		s.is.NoErr(s.config.Logins.SetLogin(t.Context(), account.Login{User: u.ID, Role: account.RoleUser,
			Password: password}))
		v := s.visitor()
		s.is.Equal(v.post(s.entry(u)).redirected(), "/console/")
		s.is.Equal(v.post("keys", "name", "k", "life", "never").StatusCode, want)
	}
}

// unconfirmed are the forms of those who are signed in that ask for no confirmation, and why.
var unconfirmed = map[string]string{
	"webhooks/test":                      "it changes nothing",
	"system/audit":                       "it changes nothing",
	"playground/preview":                 "it changes nothing",
	"playground":                         "it is what the console is for",
	"generations/{generation}/cancel":    "it gives the credits back",
	"generations/{generation}/favourite": "it can be undone",
	"account/passkeys":                   "it finishes what account/passkeys/new began, which is confirmed",
	"account/password":                   "it asks for the present password itself",
	"account/signins/end":                "it only ends sign-ins",
}

// Every form asks for a confirmation first, unless there is a reason why it need not.
func TestWhatIsConfirmed(t *testing.T) {
	s := open(t)
	v := s.operator()
	s.clock.Advance(5 * time.Minute)
	left := maps.Clone(unconfirmed)
	for _, r := range console.Routes() {
		if r.Method != http.MethodPost || !r.SignedIn {
			continue
		}
		_, free := unconfirmed[r.Path]
		delete(left, r.Path)
		var a answer
		news := s.news(func() { a = v.visit(r) })
		asked := a.StatusCode == http.StatusForbidden && a.has(nothingDone)
		if asked == free || asked && len(news) > 0 {
			t.Errorf("%s asked for a confirmation: %t; %s, %d rows of the trail", r.Path, asked, a.Status, len(news))
		}
	}
	s.is.Equal(left, map[string]string{})
}
