package browsertest_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// Everything works without scripts, with some additional buttons.
func TestWithoutScripts(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	tab := s.tab()
	tab.withoutScripts()
	tab.open("signin", 200)
	tab.signIn("alice", "wrong horse battery", 422)
	tab.signIn("alice", secret, 200)

	tab.press("API keys", 200)
	tab.fill("Name", "web shop")
	tab.press("Create the key", 200)
	s.is.Equal(s.call(evaluate[string](tab, `document.getElementById("raw").textContent`)), 200)
	s.is.Equal(evaluate[int](tab,
		// they would do nothing
		`[...document.querySelectorAll("[data-copy]")].filter((e) => e.checkVisibility()).length`), 0)

	tab.press("Playground", 200)
	tab.press("Generate", 422)
	tab.shows("Describe the image that you want.")
	tab.fill("Prompt", "A red fox in fresh snow")
	tab.attach("Reference images", s.reference())
	tab.choose("16:9")
	tab.choose("2K")
	tab.choose("2")
	tab.press("Update the cost", 200)
	tab.shows("4 credits", "Balance 10, afterwards 6.", "Choose the images again")
	tab.attach("Reference images", s.reference())
	tab.press("Generate", 200)
	address := evaluate[string](tab, `location.href.split("#")[0]`)
	s.await(imagegen.GenerationID(evaluate[string](tab, `new URLSearchParams(location.search).get("result")`)))
	tab.open(address, 200)
	tab.shows("succeeded", "A red fox in fresh snow")
	s.is.Equal(evaluate[int](tab, `document.querySelectorAll("#result figure img").length`), 2)
	s.is.Equal(evaluate[string](tab, `document.querySelector("[name=ratio]:checked").value`), "16:9")
	tab.press("Generations", 200)
	s.is.Equal(tab.pictures(), 1)

	tab.press("Credits", 200)
	tab.shows("Spent", "Show as table")
	tab.press("Sign out", 200)
	s.is.Equal(tab.path(), "signin")
}

// withoutScripts turns scripts off for the pages of the tab, but not for the test itself.
func (t *tab) withoutScripts() {
	t.Helper()
	t.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
}
