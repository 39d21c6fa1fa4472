package browsertest_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// reference draws an image and returns the path of its file.
func (s *site) reference() string {
	s.Helper()
	path := filepath.Join(s.TempDir(), "fox.png")
	q := imagegen.ProviderRequest{Prompt: "a fox in autumn", N: 1, Size: imagegen.Size{Width: 240, Height: 240}}
	for picture, err := range (&provider.Fake{}).Generate(s.Context(), q) {
		s.is.NoErr(err)
		png, err := io.ReadAll(picture.Body)
		s.is.NoErr(err)
		s.is.NoErr(os.WriteFile(path, png, 0o600))
	}
	return path
}

// A user describes an image, adds a reference, sees the price and generates; the image appears by itself.
func TestPlayground(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	tab := s.signedIn(alice)
	tab.shows("Playground", "Balance 10, afterwards 9.")
	tab.fill("Prompt", "A red fox in fresh snow")
	tab.shows("23 of 32,000 characters")
	tab.attach("Reference images", s.reference())
	tab.shows("fox.png")
	tab.choose("2K")
	tab.choose("3")
	tab.shows("6 credits", "Balance 10, afterwards 4.", `-F 'reference_image=@"fox.png"'`)
	tab.click("Generate") // the page stays
	tab.shows("there are 4 credits", "succeeded")
	s.is.Equal(evaluate[int](tab, `document.querySelectorAll("#result figure img").length`), 3)
	s.is.Equal(evaluate[string](tab, `document.querySelector("[name=prompt]").value`), "A red fox in fresh snow")

	tab.press("Details", 200)
	tab.press("Use again", 200)
	tab.shows("there are 4 credits", "It was made with 1 image that is not kept")
	s.is.Equal(evaluate[string](tab, `document.querySelector("[name=prompt]").value`), "A red fox in fresh snow")
	s.is.Equal(evaluate[string](tab, `document.querySelector("[name=n]:checked").value`), "3")
}

// After going back to a page, sending its form again makes another generation.
func TestBackInThePlayground(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	tab := s.signedIn(alice)
	tab.fill("Prompt", "A red fox in fresh snow")
	token := evaluate[string](tab,
		`document.querySelector("#play").dataset.sending = "yes"; document.querySelector("[name=token]").value`)
	again := evaluate[string](tab,
		`dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true })); document.querySelector("[name=token]").value`)
	s.is.True(token != again && imagegen.ValidIdempotencyKey(again))
	tab.click("Generate")
	tab.shows("succeeded")
}

// An answer without a form leaves the form on the page as it is.
func TestPlaygroundKeepsWhatWasTyped(t *testing.T) {
	s := open(t)
	tab := s.signedIn(s.user("alice", account.RoleUser))
	long := evaluate[int](tab, `(document.querySelector("[name=prompt]").value = "fox ".repeat(300000)).length`)
	tab.eyes.expect(400)
	tab.click("Generate") // the script stays on the page
	tab.shows("That cannot be done: The form is too large; shorten what you entered.")
	s.is.Equal(evaluate[int](tab, `document.querySelector("[name=prompt]").value.length`), long)
	s.is.Equal(evaluate[string](tab, `document.querySelector("#play").dataset.sending ?? ""`), "") // it can be sent
}

// The message of a refused field has a whole line below it, and disappears with the next accepted form.
func TestPlaygroundForgives(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	tab := s.signedIn(alice)
	tab.fill("Prompt", " ")
	tab.eyes.expect(422)
	tab.click("Generate")
	tab.has(1, "#f-prompt-fault")
	s.is.True(evaluate[bool](tab, `(() => {
	  const [fault, field] = ["f-prompt-fault", "f-prompt"].map((id) => document.getElementById(id).getBoundingClientRect());
	  return fault.top >= field.bottom && fault.width === field.width;
	})()`))
	tab.fill("Prompt", "A red fox in fresh snow")
	tab.click("Generate")
	tab.shows("succeeded")
	s.is.Equal(evaluate[string](tab,
		`[...document.querySelectorAll("#play [aria-invalid], #play .fault:not(:empty)")].map((e) => e.id).join(" ")`),
		"")
}

// The browser shows some faults before anything is sent.
func TestUnfitReference(t *testing.T) {
	s := open(t)
	tab := s.signedIn(s.user("alice", account.RoleUser))
	path := filepath.Join(t.TempDir(), "notes.txt")
	s.is.NoErr(os.WriteFile(path, []byte("no image"), 0o600))
	tab.attach("Reference images", path)
	tab.shows("notes.txt is not a PNG, JPEG or WebP image.")
	s.is.Equal(evaluate[int](tab, `document.querySelector("[type=file]").files.length`), 0)
}

// pictures is how many images the page shows in full; it waits until none is missing.
func (t *tab) pictures() int {
	t.Helper()
	return evaluate[int](t, `(async () => {
		const all = [...document.querySelectorAll("main img")];
		for (const i of all) { i.loading = "eager"; await i.decode(); }
		return all.length;
	})()`)
}
