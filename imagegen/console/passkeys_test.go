package console_test

import (
	"html"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/console/passkey"
	"github.com/imagegend/imagegend/imagegen/console/passkey/passkeytest"
)

// withPasskeys lets people have passkeys.
func withPasskeys(c *console.Config) {
	p, err := passkey.New(passkey.Config{Origin: "https://console.test"})
	if err != nil {
		panic(err)
	}
	c.Passkeys = p
}

// authenticator is one in front of the console.
func (s *site) authenticator() *passkeytest.Authenticator {
	return passkeytest.New(s, "https://console.test", "console.test")
}

var (
	asked    = regexp.MustCompile(`action="([^"]+)" data-passkey="(make|use)" data-options="([^"]*)"`)
	ceremony = regexp.MustCompile(`name="passkey_ceremony" value="([^"]+)"`)
)

// prove sends the form of a page with what a device proves, as its script does.
func (v *visitor) prove(a answer, d *passkeytest.Authenticator, more ...string) answer {
	v.Helper()
	path, form := v.proof(a, d)
	return v.post(path, append(form, more...)...)
}

// proof is where that form goes, and what is in it.
func (v *visitor) proof(a answer, d *passkeytest.Authenticator) (path string, form []string) {
	v.Helper()
	m := asked.FindStringSubmatch(a.body)
	if m == nil {
		v.Fatalf("no passkey is asked for: %s\n%s", a.Status, a.body)
	}
	options := []byte(html.UnescapeString(m[3]))
	proof := d.Use
	if m[2] == "make" {
		proof = d.Make
	}
	return m[1], []string{"passkey_ceremony", ceremony.FindStringSubmatch(a.body)[1], "passkey_answer",
		string(proof(options))}
}

// make creates a passkey for the user who is signed in.
func (v *visitor) make(name string) *passkeytest.Authenticator {
	v.Helper()
	d := v.authenticator()
	a := v.follow(v.prove(v.post("account/passkeys/new", "passkey_name", name), d))
	v.is.True(a.has("The passkey “" + name + "” is yours."))
	return d
}

func (v *visitor) signIn(name string) answer {
	v.Helper()
	return v.post("signin", "name", name, "password", secret, "next", "/console/account")
}

// in reports whether somebody is signed in.
func (v *visitor) in() bool { return v.get("account").StatusCode == http.StatusOK }

func TestPasskeyAtSignIn(t *testing.T) {
	s := open(t, withPasskeys)
	v := s.signedIn("alice")
	other := s.visitor()
	other.signIn("alice")
	s.is.True(other.in())
	d := v.make("laptop")
	s.is.True(v.get("account").has("laptop"))
	s.is.True(v.in() && !other.in()) // who had the password alone is out

	in := s.visitor()
	a := in.signIn("alice")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("Use your passkey", "Passkeys need JavaScript", "passkey.js"))
	s.is.True(!in.in())
	a = in.prove(a, d)
	s.is.Equal(a.redirected(), "/console/account") // where they wanted to go
	s.is.True(in.in())
	s.is.True(in.post("keys", "name", "k", "life", "never").redirected() != "") // it was proved just now
}

// A user with a passkey cannot sign in with the password alone, however it was set.
func TestNoWayAroundThePasskey(t *testing.T) {
	s := open(t, withPasskeys)
	v := s.signedIn("alice")
	d := v.make("laptop")
	for name, way := range map[string]func(in *visitor) answer{
		"password":     func(in *visitor) answer { return in.signIn("alice") },
		"sign-in link": func(in *visitor) answer { return in.post(s.entry(v.user)) },
		"new password": func(in *visitor) answer {
			return in.post(s.invite(v.user, account.RoleUser), "password", secret, "again", secret)
		},
	} {
		in := s.visitor()
		a := way(in)
		if in.in() || !a.has("Use your passkey") {
			t.Errorf("%s: %s", name, a.Status)
		}
		s.is.True(in.prove(a, d).redirected() != "")
		s.is.True(in.in())
	}
}

// A wrong proof signs nobody in, and counts as a failure.
func TestPasskeyRefused(t *testing.T) {
	s := open(t, withPasskeys)
	v := s.signedIn("alice")
	d := v.make("laptop")
	bob := s.signedIn("bob")
	his := bob.make("phone")
	for name, try := range map[string]func(in *visitor, a answer) answer{
		"another's passkey": func(in *visitor, a answer) answer { return in.prove(a, his) },
		"another origin": func(in *visitor, a answer) answer {
			d.Origin = "https://evil.example"
			defer func() { d.Origin = "https://console.test" }()
			return in.prove(a, d)
		},
		"count back": func(in *visitor, a answer) answer {
			before := d.Uses
			d.Uses = 0
			defer func() { d.Uses = before }()
			return in.prove(a, d)
		},
		"nothing": func(in *visitor, a answer) answer { return in.post("signin/passkey") },
		"no answer": func(in *visitor, a answer) answer {
			return in.post("signin/passkey", "passkey_ceremony", ceremony.FindStringSubmatch(a.body)[1])
		},
		"answer to another question": func(in *visitor, a answer) answer {
			_, form := in.proof(in.signIn("alice"), d)
			return in.post("signin/passkey", "passkey_ceremony", ceremony.FindStringSubmatch(a.body)[1],
				"passkey_answer", form[3])
		},
		"question to another": func(in *visitor, a answer) answer {
			path, form := in.proof(a, d)
			form[1] = ceremony.FindStringSubmatch(in.signIn("bob").body)[1]
			return in.post(path, form...)
		},
		"late": func(in *visitor, a answer) answer {
			s.clock.Advance(10 * time.Minute)
			return in.prove(a, d)
		},
		"removed meanwhile": func(in *visitor, a answer) answer {
			v.is.NoErr(removed(s.DB.RemovePasskeys(t.Context(), v.user.ID)))
			defer func() { d = s.as(v.user).make("laptop") }()
			return in.prove(a, d)
		},
	} {
		in := s.visitor()
		a := try(in, in.signIn("alice"))
		if a.StatusCode != http.StatusUnprocessableEntity || in.in() {
			t.Errorf("%s: %s\n%s", name, a.Status, a.body)
		}
		s.is.True(s.visitor().signIn("alice").has("Use your passkey"))
	}
}

func removed(_ int, err error) error { return err }

// A ceremony accepts one answer.
func TestPasskeyReplay(t *testing.T) {
	s := open(t, withPasskeys)
	d := s.signedIn("alice").make("laptop")
	in := s.visitor()
	path, form := in.proof(in.signIn("alice"), d)
	s.is.True(in.post(path, form...).redirected() != "")
	again := s.visitor()
	s.is.True(again.post(path, form...).has("It took too long, or was done already."))
	s.is.True(!again.in())
}

// A repeated answer of a passkey without a counter is refused by every node.
func TestAnswerOfAPasskeyThatDoesNotCount(t *testing.T) {
	s := open(t, withPasskeys)
	v := s.signedIn("alice")
	d := v.authenticator()
	d.Counts = false
	v.prove(v.post("account/passkeys/new", "passkey_name", "laptop"), d)
	in := s.visitor()
	path, form := in.proof(in.signIn("alice"), d)
	again := s.visitor()
	again.site, again.cookies = s.beside(), maps.Clone(in.cookies)
	s.is.True(in.post(path, form...).redirected() != "")
	for _, sealed := range []string{form[1], form[1] + "\n"} { // another text of the same bytes
		form[1] = sealed
		s.is.Equal(again.post(path, form...).StatusCode, http.StatusUnprocessableEntity)
		s.is.True(!again.in())
	}
	// Only the browser that was asked can answer, at any node.
	path, form = in.proof(in.signIn("alice"), d)
	elsewhere := s.visitor()
	s.is.True(elsewhere.post(path, form...).has("It took too long, or was done already."))
	in.site = s.beside()
	s.is.True(in.post(path, form...).redirected() != "")
}

// After a sign-in by a link, only a passkey that verifies its user counts as a confirmation.
func TestConfirmAfterALinkAndAPasskey(t *testing.T) {
	s := open(t, withPasskeys)
	v := s.signedIn("alice")
	d := v.make("laptop")
	for verifies, want := range map[bool]int{false: http.StatusForbidden, true: http.StatusSeeOther} {
		d.Verifies = verifies
		in := s.visitor()
		in.prove(in.post(s.entry(v.user)), d)
		s.is.True(in.in())
		s.is.Equal(in.post("keys", "name", "k", "life", "never").StatusCode, want)
	}
}

// A ceremony of one kind does not accept an answer for another kind.
func TestCeremoniesOfTheirKind(t *testing.T) {
	s := open(t, withPasskeys)
	v := s.signedIn("alice")
	d := v.make("laptop")
	s.clock.Advance(5 * time.Minute)
	confirm := func() answer { return v.post("keys", "name", "k", "life", "never") }
	_, form := v.proof(confirm(), d)
	in := s.visitor()
	in.post("signin/passkey", form...)
	s.is.True(!in.in()) // a confirmation signs nobody in

	_, form = in.proof(in.signIn("alice"), d)
	// nor a sign-in confirms
	s.is.Equal(v.post("keys", append(form, "name", "k", "life", "never")...).StatusCode, http.StatusUnprocessableEntity)
	elsewhere := s.as(s.user("bob", account.RoleUser))
	_, form = v.proof(confirm(), d)
	s.clock.Advance(time.Minute)
	elsewhere.make("phone")
	s.clock.Advance(5 * time.Minute)
	s.is.Equal(elsewhere.post("keys", append(form, "name", "k", "life", "never")...).StatusCode,
		http.StatusUnprocessableEntity)
}

// A passkey that verifies its user confirms in place of the password, and the form waits for it.
func TestConfirmByPasskey(t *testing.T) {
	s := open(t, withPasskeys)
	v := s.signedIn("alice")
	d := v.make("laptop")
	s.clock.Advance(5 * time.Minute)
	a := v.post("keys", "name", "script", "life", "never")
	s.is.Equal(a.StatusCode, http.StatusForbidden)
	s.is.True(a.has("Use a passkey", "Your password"))
	d.Verifies = false
	refused := v.prove(a, d, "name", "script", "life", "never")
	s.is.Equal(refused.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(refused.has("The passkey was not accepted."))
	d.Verifies = true
	s.is.True(v.prove(refused, d, "name", "script", "life", "never").redirected() != "")
	ks, err := s.Accounts().Keys(t.Context(), v.user.ID)
	s.is.NoErr(err)
	s.is.Equal(len(ks), 1)
}

// If operators need a passkey, one without it sees no operators' page, and can create one.
func TestOperatorsNeedPasskey(t *testing.T) {
	s := open(t, withPasskeys, func(c *console.Config) { c.OperatorsNeedPasskey = true })
	v := s.operator()
	for _, path := range []string{"users", "users/" + string(v.user.ID), "trail"} {
		s.is.Equal(v.get(path).redirected(), "/console/account")
	}
	s.is.Equal(v.post("users", "name", "bob", "role", "operator", "days", "3").redirected(), "/console/account")
	us, err := s.Accounts().Users(t.Context())
	s.is.NoErr(err)
	s.is.Equal(len(us), 1)
	s.is.True(v.get("account").has("Operators need a passkey here."))
	s.is.Equal(v.get("playground").StatusCode, http.StatusOK) // as any user
	s.is.Equal(s.signedIn("alice").get("account").StatusCode, http.StatusOK)
	v.make("laptop")
	s.is.Equal(v.get("users").StatusCode, http.StatusOK)
}

// Users can remove their own passkeys only. An operator can remove all passkeys of a user who lost them.
func TestRemovePasskeys(t *testing.T) {
	s := open(t, withPasskeys)
	alice, bob := s.signedIn("alice"), s.signedIn("bob")
	alice.make("laptop")
	alice.make("phone")
	bob.make("key")
	all, err := s.DB.Passkeys(t.Context(), alice.user.ID)
	s.is.NoErr(err)
	s.is.Equal(len(all), 2)
	s.is.True(bob.follow(bob.post("account/passkeys/remove", "passkey", string(all[0].ID))).
		has("It is removed already."))
	s.is.Equal(alice.post("account/passkeys/remove").StatusCode, http.StatusNotFound) // none named
	s.is.True(alice.follow(alice.post("account/passkeys/remove", "passkey", string(all[0].ID))).
		has("The passkey is removed."))
	all, err = s.DB.Passkeys(t.Context(), alice.user.ID)
	s.is.NoErr(err)
	s.is.Equal(len(all), 1)

	olivia := s.operator()
	at := "users/" + string(alice.user.ID)
	s.is.True(olivia.get(at).has("alice has 1.", "Remove the passkey"))
	news := s.news(func() {
		s.is.True(olivia.follow(olivia.post(at + "/passkeys/remove")).has("alice has no passkeys any more."))
	})
	s.is.Equal(news[0].Act, account.ActPasskeyRemove)
	s.is.Equal(news[0].Actor.Name, "olivia")
	in := s.visitor()
	s.is.True(in.signIn("alice").redirected() != "")
}

// A passkey needs a name, and a user can have twenty.
func TestNewPasskeyRefused(t *testing.T) {
	s := open(t, withPasskeys)
	v := s.signedIn("alice")
	s.is.True(v.post("account/passkeys/new", "passkey_name", " ").has("Give the passkey a name"))
	s.is.True(v.post("account/passkeys/new", "passkey_name", strings.Repeat("x", 101)).has("Give the passkey a name"))
	a := v.post("account/passkeys/new", "passkey_name", "laptop")
	path, form := v.proof(a, s.authenticator())
	s.is.Equal(s.as(v.user).post(path, form[2:]...).StatusCode, http.StatusBadRequest) // without what was asked
	bob := s.signedIn("bob")
	s.is.Equal(bob.post(path, form...).StatusCode, http.StatusBadRequest) // of another's
	for n := range 20 {
		v.is.NoErr(s.DB.CreatePasskey(t.Context(), account.Passkey{ID: account.PasskeyID(strings.Repeat("a", n+1)),
			User: v.user.ID, Credential: []byte("{}")}))
	}
	s.is.True(v.post("account/passkeys/new", "passkey_name", "one more").has("You have 20 passkeys"))
}

// A user with a passkey cannot sign in to a console without passkeys, and learns why.
func TestPasskeyThatCannotBeAskedFor(t *testing.T) {
	s := open(t)
	u := s.user("alice", account.RoleUser)
	s.is.NoErr(s.DB.CreatePasskey(t.Context(), account.Passkey{ID: "a", User: u.ID, Credential: []byte("{}")}))
	in := s.visitor()
	s.is.True(in.signIn("alice").has("this service is not set up to ask for it; tell the operator"))
	s.is.True(!in.in())
	v := s.signedIn("bob")
	s.is.True(!v.get("account").has("Passkeys"))
	s.is.Equal(v.post("account/passkeys/new", "passkey_name", "x").StatusCode, http.StatusNotFound)
	_, err := console.New(console.Config{Engine: s.Engine, Ledger: s.DB, Logins: s.DB, OperatorsNeedPasskey: true})
	s.is.True(err != nil)
}
