package browsertest_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/imagegend/imagegend/imagegen/account"
)

// A key is shown once and works, until it is revoked.
func TestKeys(t *testing.T) {
	s := open(t)
	tab := s.signedIn(s.user("alice", account.RoleUser))
	tab.press("API keys", 200)
	tab.shows("No keys yet")
	tab.fill("Name", "web shop")
	tab.press("Create the key", 200)
	tab.shows("This is the only time that the key is shown", "web shop", "curl ")
	raw := evaluate[string](tab, `document.getElementById("raw").textContent`)
	s.is.Equal(s.call(raw), 200)
	tab.click("Copy the key")
	tab.shows("Copied")
	tab.click("Copied") // a second press
	tab.gone("Copied")
	tab.shows("Copy")
	s.is.Equal(evaluate[string](tab, `document.querySelector("[data-copy=raw] .unseen").textContent`), " the key")

	tab.leads(200, chromedp.Reload())
	tab.unsaid(raw)
	tab.shows("web shop", "active", raw[:8])
	tab.open("keys", 200)
	tab.unsaid(raw)

	tab.press("Revoke", 200)
	tab.shows("Revoke “web shop”?")
	s.is.Equal(s.call(raw), 200) // it was only asked
	tab.press("Revoke “web shop”", 200)
	tab.shows("revoked")
	tab.lacks("active")
	s.is.Equal(s.call(raw), 401)
}

// unsaid checks that the page does not contain a text, not even where it is invisible.
func (t *tab) unsaid(text string) {
	t.Helper()
	t.is.True(len(text) > 20)
	t.is.Equal(evaluate[int](t, `document.documentElement.outerHTML.split("`+text+`").length`), 1)
}
