package browsertest_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/console"
)

// view is a page that a test inspects.
type view struct {
	name   string
	path   string
	status int
	then   func(t *tab) // what to do there, to see what is meant; nil: nothing
}

// TestPages shows every page with every look: it fits a narrow window, is accessible, and the browser has no
// complaints.
func TestPages(t *testing.T) {
	f := furnish(t)
	visitor := f.tab()
	for _, p := range f.outside() {
		visitor.inspect(p)
	}
	for _, who := range []struct {
		tab   *tab
		pages []view
	}{{f.signedIn(f.alice), f.hers()}, {f.signedIn(f.bob), empty}, {f.signedIn(f.olivia), f.operators()}} {
		for _, p := range who.pages {
			who.tab.inspect(p)
		}
	}
}

// inspect goes to a page and looks at it.
func (t *tab) inspect(p view) {
	t.Helper()
	if !regexp.MustCompile(*onlyPages).MatchString(p.name) {
		return
	}
	began := time.Now()
	t.open(p.path, p.status)
	if p.then != nil {
		p.then(t)
	}
	for _, width := range widths {
		l := look{fmt.Sprint(width), "light", width}
		t.wear(l)
		t.fits(p.name + ", " + l.name)
	}
	for _, l := range looks {
		t.wear(l)
		t.pictures()
		t.fits(p.name + ", " + l.name)
		t.keep(p, l)
	}
	t.illustrate(p)
	for _, l := range looks[:2] {
		t.wear(l)
		for _, barrier := range t.barriers() {
			t.Errorf("%s, %s: %s", p.name, l.name, barrier)
		}
	}
	t.Logf("%s: %v", p.name, time.Since(began).Round(time.Millisecond))
}

// createKey fills in the form that unfolds on the page of the keys, where there are some.
func (t *tab) createKey(name string, status int) {
	t.Helper()
	t.unfold("Create a key")
	t.fill("Name", name)
	t.press("Create the key", status)
}

// outside are the pages without a sign-in.
func (f *furnished) outside() []view {
	entry, err := console.SignInLink(f.Context(), f.db, f.bob.ID, "user", f.clock.Now().Add(time.Hour))
	f.is.NoErr(err)
	return []view{
		{"signin", "signin", 200, nil},
		{"signin-failed", "signin", 200, func(t *tab) { t.signIn("alice", "wrong", 422) }},
		{"entry", entry, 200, nil},
		{"link-spent", "invitation/spent", 404, nil},
		{"not-found", "nothing/here", 404, nil},
	}
}

// hers are the pages of a user at work.
func (f *furnished) hers() []view {
	return []view{
		{"playground", "playground", 200, func(t *tab) {
			t.fill("Prompt", "A red fox in fresh snow, early morning light")
			t.attach("Reference images", t.reference())
			t.choose("16:9")
			t.choose("2K")
			t.shows("Balance", "2 credits", `-F 'reference_image=@"fox.png"'`)
		}},
		{"playground-refused", "playground", 200, func(t *tab) {
			t.choose("1K")
			t.choose("16:9")
			t.shows(`"size": "1280x720"`)
			t.click("More shapes")
			t.choose("Exact")
			t.fill("Width", "99999")
			t.eyes.expect(422)
			t.click("Generate") // the script stays on the page
			t.shows("Give both edges in whole pixels")
			t.shows(`"size": "1280x720"`) // the code has no fault
			// whole, as it was typed
			t.is.Equal(evaluate[string](t, `document.getElementById("f-width").value`), "99999")
		}},
		{"generations", "generations", 200, nil},
		{"generations-none", "generations?status=queued", 200, nil},
		{"generation", "generations/" + string(f.whole.ID), 200, nil},
		{"generation-partial", "generations/" + string(f.partial.ID), 200, nil},
		{"generation-failed", "generations/" + string(f.failed.ID), 200, nil},
		{"generation-making", "generations/" + string(f.making.ID), 200, nil},
		{"erase", "generations/" + string(f.whole.ID) + "/erase", 200, nil},
		{"credits", "credits", 200, nil},
		{"prices", "prices", 200, nil},
		{"keys", "keys", 200, nil},
		{"key-refused", "keys", 200, func(t *tab) { t.createKey(" ", 422) }},
		{"key-created", "keys", 200, func(t *tab) { t.createKey("build server", 200) }},
		{"key-revoke", "keys/" + string(f.key.ID) + "/revoke", 200, nil},
		{"account", "account", 200, nil},
		{"account-refused", "account", 200, func(t *tab) {
			t.fill("Current password", "wrong")
			t.fill("New password", secret+" staple")
			t.fill("Repeat the new password", secret)
			t.press("Change the password", 422)
		}},
	}
}

// empty are the pages of a user who has nothing yet.
var empty = []view{
	{"empty-playground", "playground", 200, nil},
	{"empty-generations", "generations", 200, nil},
	{"empty-credits", "credits", 200, nil},
	{"empty-keys", "keys", 200, nil},
}

// operators are the pages of an operator.
func (f *furnished) operators() []view {
	alice := "users/" + string(f.alice.ID)
	return []view{
		{"overview", "overview", 200, nil},
		{"users", "users", 200, nil},
		{"users-none", "users?q=zebra", 200, nil},
		{"user-new", "users/new", 200, nil},
		{"user-link", "users/new", 200, func(t *tab) { t.fill("Name", "carol"); t.press("Make the link", 200) }},
		{"user", alice, 200, nil},
		{"user-refused", alice, 200, func(t *tab) {
			t.unfold("Grant credits")
			t.fill("Credits", "0")
			t.press("Grant", 422)
		}},
		{"user-revoke-refused", alice, 200, func(t *tab) {
			t.unfold("Take credits back")
			t.fill("Credits to take back", "1000000")
			t.press("Take back", 422)
		}},
		{"user-suspended", "users/" + string(f.bob.ID), 200, func(t *tab) { t.press("Suspend", 200) }},
		{"user-ledger", alice + "/ledger", 200, nil},
		{"user-ledger-none", "users/" + string(f.bob.ID) + "/ledger", 200, nil},
		{"user-disable", alice + "/disable", 200, nil},
		{"user-key", alice + "/keys/" + string(f.key.ID) + "/revoke", 200, nil},
		{"user-generations", alice + "/generations", 200, nil},
		{"user-generations-none", "users/" + string(f.bob.ID) + "/generations", 200, nil},
		{"system", "system", 200, nil},
		{"system-audited", "system", 200, func(t *tab) { t.press("Run an audit", 200); t.shows("Went over") }},
	}
}

// The page of the set-up is shown before there are users.
func TestSetupPages(t *testing.T) {
	s := open(t)
	link, err := console.SetupLink(t.Context(), s.db, s.clock.Now().Add(time.Hour))
	s.is.NoErr(err)
	visitor := s.tab()
	visitor.inspect(view{"setup", link, 200, nil})
	visitor.inspect(view{"setup-refused", link, 200, func(t *tab) {
		t.fill("Name", "olivia")
		t.fill("New password", secret)
		t.fill("Repeat the new password", secret+"!")
		t.press("Become the operator", 422)
	}})
	operator := s.signedIn(s.user("olivia", "operator"))
	operator.open("users/new", 200)
	operator.fill("Name", "alice")
	operator.press("Make the link", 200)
	visitor.inspect(view{"invitation", evaluate[string](operator, `document.getElementById("link").textContent`), 200,
		nil})
}
