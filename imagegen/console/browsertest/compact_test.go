package browsertest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/imagegend/imagegend/imagegen"
)

// On a small laptop everything that most requests need is in view at once, and on a phone, also by touch, what each
// needs: the prompt, the shape, the number, and the bar with the price and the balance, whole. Nothing lies on it.
func TestPlaygroundInView(t *testing.T) {
	f := furnish(t)
	f.grant(f.olivia, imagegen.Grant{Credits: 4997})
	const most = "#f-prompt, #drop > summary, fieldset.line, #cost, #cost p, #generate, #result"
	const least = "#f-prompt, fieldset.ratio, fieldset.n, #cost, #cost p, #generate"
	for _, c := range []struct {
		who           imagegen.User
		width, height int64
		touch         bool
		needed        string
	}{
		{f.alice, 1280, 720, false, most},
		{f.alice, 360, 640, false, least}, {f.alice, 360, 640, true, least},
		{f.olivia, 360, 640, false, least}, {f.olivia, 360, 640, true, least}, // who has more menus
	} {
		tab := f.signedIn(c.who)
		tab.sized(c.width, c.height)
		if c.touch {
			tab.touched()
		}
		tab.open("playground", 200)
		f.is.Equal(evaluate[int](tab, `document.querySelectorAll("fieldset.line").length`), 4)
		tab.choose("16:9")
		tab.choose("4")
		tab.shows("4 credits", "4 images × 1 credit · 1K", "Balance 4,997, afterwards 4,993.")
		evaluate[any](tab, `scrollTo(0, 0)`) // the click has scrolled as if the bar were higher
		hidden := evaluate[[]string](tab, fmt.Sprintf(`[...document.querySelectorAll(%q)].filter((e) => {
			const r = e.getBoundingClientRect(), at = document.elementFromPoint(r.left + r.width / 2, r.bottom - 2);
			return r.height === 0 || r.top < 0 || e.tagName === "P" && e.scrollWidth > e.clientWidth ||
				e.id !== "result" && (r.bottom > innerHeight || at?.closest(".send") && !e.closest(".send"));
		}).map((e) => e.tagName + "#" + e.id + "." + e.className)`, c.needed))
		f.is.Equal(hidden, []string{})
	}
}

// touched makes the tab that of a device without a mouse.
func (t *tab) touched() {
	t.Helper()
	t.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetTouchEmulationEnabled,
			emulation.SetTouchEmulationEnabledParams{Enabled: true})
		return err
	}))
}

// On a phone the bar with the price stays at the foot of the window while the form is in view, and never lies on a
// result.
func TestBarCoversNoResult(t *testing.T) {
	f := furnish(t)
	tab := f.signedIn(f.alice)
	tab.sized(360, 640)
	tab.open("playground", 200)
	f.is.True(evaluate[bool](tab,
		`document.querySelector("#generate").getBoundingClientRect().bottom <= innerHeight`))
	covered := evaluate[[]int](tab, `(() => {
		const covered = [];
		for (let y = 0; y < document.documentElement.scrollHeight; y += 40) {
			scrollTo(0, y);
			const bar = document.querySelector(".send").getBoundingClientRect();
			const result = document.querySelector(".results").getBoundingClientRect();
			if (bar.bottom > result.top && bar.top < result.bottom) covered.push(y);
		}
		return covered;
	})()`)
	f.is.Equal(covered, []int{})
}

// What is touched measures at least 44 px, on every page of a user and of an operator.
func TestTouchTargets(t *testing.T) {
	f := furnish(t)
	for _, who := range []struct {
		tab   *tab
		pages []string
	}{
		{f.signedIn(f.alice), []string{"playground", "playground?reference=" + string(f.whole.Images[0].ID),
			"generations", "generations/" + string(f.whole.ID), "credits", "keys", "account"}},
		{f.signedIn(f.olivia), []string{"overview", "users", "users/" + string(f.alice.ID), "system", "trail"}},
	} {
		who.tab.sized(360, 640)
		who.tab.touched()
		for _, page := range who.pages {
			who.tab.open(page, 200)
			f.is.True(evaluate[bool](who.tab, `matchMedia("(pointer: coarse)").matches`))
			small := evaluate[[]string](who.tab, `(() => {
				const height = (e) => e.getBoundingClientRect().height;
				return [...document.querySelectorAll("button, [role=button], nav a, summary, select, textarea, .choice, input")]
					.filter((e) => !["hidden", "radio", "checkbox", "file"].includes(e.type) && e.checkVisibility())
					.filter((e) => height(e) > 1 && height(e) < 43.5)
					.map((e) => e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 20) + " " + height(e));
			})()`)
			if len(small) > 0 {
				t.Errorf("%s: smaller than 44 px: %q", page, small)
			}
			// No button hides a reference.
			f.is.True(evaluate[bool](who.tab, `[...document.querySelectorAll(".previews img")].every((e) => e.closest("li").querySelector(".tools").getBoundingClientRect().top >=
					e.getBoundingClientRect().bottom)`))
		}
	}
}
