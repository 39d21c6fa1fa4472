package browsertest_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// The result is beside the form, or beneath it on a phone, in every width, in light and dark. Generate stays visible.
func TestLoopInEveryWidth(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 50})
	for i := range 5 {
		s.generate(alice, fmt.Sprintf("A red fox in fresh snow, number %d", i), 1+i%3)
	}
	tab := s.signedIn(alice)
	for _, width := range []int64{360, 768, 1024, 1280, 1920} {
		for _, scheme := range []string{"light", "dark"} {
			l := look{fmt.Sprintf("%d-%s", width, scheme), scheme, width}
			tab.wear(l)
			tab.open("playground", 200)
			tab.pictures()
			tab.fits("playground, " + l.name)
			beside := evaluate[bool](tab,
				`document.getElementById("result").getBoundingClientRect().left >= document.querySelector(".send").getBoundingClientRect().right`)
			s.is.Equal(beside, width >= 768)
			for _, barrier := range tab.barriers() {
				t.Errorf("playground, %s: %s", l.name, barrier)
			}
			tab.keep(view{name: "loop"}, l)
		}
	}
	tab.open("playground", 200)
	for _, window := range [][2]int64{{1280, 720}, {768, 1024}, {360, 640}} {
		tab.sized(window[0], window[1])
		for _, place := range []string{"0", "innerHeight / 2"} {
			seen := evaluate[bool](tab, `(() => { scrollTo(0, `+place+`);
				const b = document.getElementById("generate").getBoundingClientRect();
				return b.top >= 0 && b.bottom <= innerHeight && b.height > 0; })()`)
			if !seen {
				t.Errorf("Generate is out of view at %v, scrolled to %s", window, place)
			}
		}
	}
}

// A result can become a reference, references can be reordered and removed, and a variation uses the same settings
// while the form stays.
func TestGoOnFromAResult(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 50})
	g := s.generate(alice, "A red fox in fresh snow", 2)
	tab := s.signedIn(alice)
	tab.fill("Prompt", "The same in autumn")
	tab.click("Use as reference image 1")
	tab.click("Use as reference image 2")
	tab.attach("Reference images", s.reference())
	tab.shows("fox.png")
	order := `[...document.querySelectorAll(".previews li")].map((li) => li.dataset.image ?? li.innerText.split("\n")[0])`
	s.is.Equal(evaluate[[]string](tab, order), []string{string(g.Images[0].ID), string(g.Images[1].ID), "fox.png"})
	evaluate[any](tab, `document.querySelector("[aria-label='Move reference 3 forward']").click()`)
	evaluate[any](tab, `document.querySelector("[aria-label='Remove reference 1']").click()`)
	s.is.Equal(evaluate[[]string](tab, order), []string{"fox.png", string(g.Images[1].ID)})
	evaluate[any](tab, `(() => { const paste = new DataTransfer();
		paste.items.add(new File([new Uint8Array([1])], "pasted.png", { type: "image/png" }));
		document.dispatchEvent(new ClipboardEvent("paste", { clipboardData: paste, bubbles: true, cancelable: true })); })()`)
	tab.shows("pasted.png")
	evaluate[any](tab, `document.querySelector("[aria-label='Remove reference 3']").click()`)
	tab.gone("pasted.png")
	evaluate[any](tab, fmt.Sprintf(`(() => { const dragged = new DataTransfer();
		dragged.setData("text/uri-list", %q);
		document.getElementById("drop").dispatchEvent(new DragEvent("drop", { dataTransfer: dragged, bubbles: true, cancelable: true })); })()`,
		s.address+"/console/images/"+string(g.Images[0].ID)))
	s.is.Equal(evaluate[[]string](tab, order), []string{"fox.png", string(g.Images[1].ID), string(g.Images[0].ID)})
	evaluate[any](tab, `document.querySelector("[aria-label='Remove reference 3']").click()`)
	tab.wear(look{"loop", "light", 1280})
	tab.keep(view{name: "references"}, look{"1280-light", "light", 1280})
	tab.click("Generate")
	tab.shows("Balance 47", "succeeded")
	made, err := s.As(alice.ID).Generations(t.Context(), imagegen.Query{Limit: 1})
	s.is.NoErr(err)
	s.is.Equal([]any{made.Generations[0].Prompt, made.Generations[0].ReferenceCount}, []any{"The same in autumn", 2})

	tab.open("playground?result="+string(g.ID), 200)
	tab.fill("Prompt", "Something else")
	tab.click("Variation")
	tab.shows("Balance 45")
	s.is.Equal(evaluate[string](tab, `document.querySelector("[name=prompt]").value`), "Something else")
	tab.shows("A red fox in fresh snow", "succeeded")
}

// Every page with an image can make it a reference with one click, with and without scripts.
func TestUseAsReferenceAnywhere(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	g := s.generate(alice, "A red fox in fresh snow", 2)
	first, second := string(g.Images[0].ID), string(g.Images[1].ID)
	held := `[...document.querySelectorAll("#play [name=reference]")].map((f) => f.value)`
	pages := map[string]struct{ words, uses string }{
		"generations":                      {"Use as reference: A red fox in fresh snow", first},
		"generations/" + string(g.ID):      {"Use as reference image 2", second},
		"compare?a=" + second:              {"Use as reference image A", second},
		"playground":                       {"Use as reference image 2", second},
		"playground?again=" + string(g.ID): {"Use as reference image 1", first},
	}
	plain := s.tab()
	plain.withoutScripts()
	plain.open("signin", 200)
	plain.signIn("alice", secret, 200)
	for page, c := range pages {
		plain.open(page, 200)
		plain.press(c.words, 200)
		s.is.Equal(evaluate[[]string](plain, held), []string{c.uses})
	}
	for page, c := range pages {
		tab := s.signedIn(alice)
		tab.open(page, 200)
		tab.click(c.words)
		tab.has(1, "#play [name=reference]")
		s.is.Equal(evaluate[[]string](tab, held), []string{c.uses})
	}
	for _, page := range []string{"generations/" + string(g.ID), "compare?a=" + first, "playground"} {
		tab := s.signedIn(alice)
		tab.open(page, 200)
		tab.do(chromedp.Click(chromedp.JSPath(`document.querySelector("a[data-picture]")`)))
		evaluate[any](tab, `document.querySelector("#lightbox [data-do=use]").click()`)
		tab.has(1, "#play [name=reference]")
		s.is.Equal(evaluate[[]string](tab, held), []string{first})
	}
}

// Several generations can be under way at once, and everything works by keys alone.
func TestSeveralByKeyboard(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 50})
	tab := s.signedIn(alice)
	for n := range 2 {
		tab.fill("Prompt", slow)
		tab.do(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
		tab.has(n+1, "#strip .blank")
	}
	close(s.painter.let)
	tab.has(2, "#strip img")
	tab.shows("succeeded")
}

// A hidden page holds no connection while it waits, and still shows its result.
func TestHiddenPage(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 1})
	tab := s.signedIn(alice)
	evaluate[any](tab, `Object.defineProperty(document, "hidden", { value: true }) && null`)
	tab.fill("Prompt", slow)
	tab.click("Generate")
	asked := `performance.getEntriesByType("resource").map((e) => new URL(e.name).searchParams.get("wait")).filter((wait) => wait !== null)`
	tab.do(chromedp.WaitReady(chromedp.JSPath(asked + `.length > 1 ? document.body : null`)))
	for _, wait := range evaluate[[]string](tab, asked) {
		s.is.Equal(wait, "0")
	}
	close(s.painter.let)
	tab.shows("succeeded")
}

// has waits until a selector matches this many elements.
func (t *tab) has(n int, selector string) {
	t.Helper()
	t.do(chromedp.WaitReady(
		chromedp.JSPath(fmt.Sprintf(`document.querySelectorAll(%q).length === %d ? document.body : null`, selector,
			n))))
}

// A draft survives a reload and another sign-in. Other users who sign in there do not see it.
func TestDraft(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.user("bob", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	g := s.generate(alice, "A red fox in fresh snow", 1)
	tab := s.signedIn(alice)
	tab.fill("Prompt", "Half a tho")
	tab.choose("2K")
	tab.click("Use as reference")
	tab.has(1, ".previews li")
	held := `(() => { const f = document.getElementById("play").elements;
		return [f.prompt.value, f.tier.value, f.reference?.value ?? ""].join(" | "); })()`
	want := "Half a tho | 2K | " + string(g.Images[0].ID)
	tab.open("playground", 200)
	s.is.Equal(evaluate[string](tab, held), want)

	tab.fill("Prompt", "Half a thought")
	tab.shows("Half a thought") // in the code: nothing else asks the service now
	s.is.NoErr(s.db.EndSignIns(t.Context(), alice.ID))
	tab.press("Generate", 200)
	s.is.Equal(tab.path(), "signin")
	tab.signIn("alice", secret, 200)
	s.is.Equal(evaluate[string](tab, held), "Half a thought | 2K | "+string(g.Images[0].ID))
	tab.open("playground?again="+string(g.ID), 200) // what is asked for goes before it, and does not take its place
	s.is.Equal(evaluate[string](tab, held), "A red fox in fresh snow | 1K | ")
	tab.open("playground", 200)
	s.is.Equal(evaluate[string](tab, held), "Half a thought | 2K | "+string(g.Images[0].ID))

	s.is.NoErr(s.db.EndSignIns(t.Context(), alice.ID))
	tab.open("signin", 200)
	tab.signIn("bob", secret, 200)
	s.is.Equal(evaluate[string](tab, held), " | 1K | ")
}

// Each tab has its own draft after a reload. A new tab begins with the latest.
func TestDraftInSeveralTabs(t *testing.T) {
	s := open(t)
	one := s.signedIn(s.user("alice", account.RoleUser))
	prompt := `document.querySelector("[name=prompt]").value`
	one.fill("Prompt", "A red fox")
	other := one.another()
	other.open("playground", 200)
	s.is.Equal(evaluate[string](other, prompt), "A red fox")
	other.fill("Prompt", "A hare")
	for tab, words := range map[*tab]string{one: "A red fox", other: "A hare"} {
		tab.open("playground", 200)
		s.is.Equal(evaluate[string](tab, prompt), words)
	}
}

// A variation without enough credits is refused, and the form stays.
func TestRefusedVariation(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 3})
	s.generate(alice, "A red fox in fresh snow", 2)
	tab := s.signedIn(alice)
	tab.fill("Prompt", "Something else")
	tab.eyes.expect(402)
	tab.click("Variation")
	tab.shows("This costs 2 credits, and there is 1 credit.")
	s.is.Equal(evaluate[string](tab, `document.querySelector("[name=prompt]").value`), "Something else")
	tab.click("Generate") // it can be sent
	tab.shows("Something else", "succeeded", "there are 0 credits")
}

// Without scripts, references can be reordered and removed, and a variation can be made.
func TestLoopWithoutScripts(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	g := s.generate(alice, "A red fox in fresh snow", 2)
	first, second := string(g.Images[0].ID), string(g.Images[1].ID)
	tab := s.tab()
	tab.withoutScripts()
	tab.open("signin", 200)
	tab.signIn("alice", secret, 200)
	tab.fill("Prompt", "The same in autumn")
	held := `[...document.querySelectorAll("#play [name=reference]")].map((f) => f.value)`
	press := func(label string) {
		tab.leads(200, chromedp.Evaluate[chromedp.Void](`document.querySelector("[aria-label='`+label+`']").click()`))
	}
	tab.press("Use as reference image 1", 200)
	tab.press("Use as reference image 2", 200)
	press("Move reference 2 forward")
	s.is.Equal(evaluate[[]string](tab, held), []string{second, first})
	press("Remove reference 2")
	s.is.Equal(evaluate[[]string](tab, held), []string{second})
	s.is.Equal(evaluate[string](tab, `document.querySelector("[name=prompt]").value`), "The same in autumn")
	tab.press("Variation", 200)
	shown := `new URLSearchParams(location.search).get("result")`
	variation := imagegen.GenerationID(evaluate[string](tab, shown))
	s.await(variation)
	v, err := s.As(alice.ID).Generation(t.Context(), variation)
	s.is.NoErr(err)
	s.is.Equal([]any{v.Prompt, v.N, v.ID != g.ID}, []any{"A red fox in fresh snow", 2, true})
}

// another opens a tab of the same browser, with the same cookies.
func (t *tab) another() *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(t.ctx)
	t.Cleanup(closeTab)
	t.is.NoErr(chromedp.Do(ctx))
	return &tab{site: t.site, ctx: ctx, eyes: t.site.watch(ctx)}
}

// Without scripts, the page keeps what was typed during a sign-in.
func TestDraftWithoutScripts(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	tab := s.tab()
	tab.withoutScripts()
	tab.open("signin", 200)
	tab.signIn("alice", secret, 200)
	tab.fill("Prompt", "Half a thought")
	s.is.NoErr(s.db.EndSignIns(t.Context(), alice.ID))
	tab.press("Generate", 403)
	tab.shows("this page keeps what you typed")
	tab.keep(view{name: "kept"}, look{"1280-light", "light", 1280})
	tab.press("Then go on", 403) // not yet
	kept := evaluate[string](tab, `document.querySelector("[name=prompt]").value`)
	s.is.Equal(kept, "Half a thought")
}
