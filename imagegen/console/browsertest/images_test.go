package browsertest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// everywhere are windows from telephones to large screens, in light and dark.
func everywhere() (all []look) {
	for _, width := range []int64{360, 768, 1024, 1280, 1920} {
		for _, scheme := range []string{"light", "dark"} {
			all = append(all, look{fmt.Sprint(width, "-", scheme), scheme, width})
		}
	}
	return all
}

// seen shows a page everywhere: it fits the window and is accessible. height is that of the screenshots; 0: the whole
// page.
func (t *tab) seen(name string, height int64) {
	t.Helper()
	for _, l := range everywhere() {
		t.wear(l)
		t.pictures()
		t.fits(name + ", " + l.name)
		if *screenshots != "" {
			t.write(filepath.Join(*screenshots, name+"-"+l.name+".png"), t.shoot(l, height))
		}
		for _, barrier := range t.barriers() {
			t.Errorf("%s, %s: %s", name, l.name, barrier)
		}
	}
}

// keys presses keys, wherever the focus is.
func (t *tab) keys(keys string) {
	t.Helper()
	t.do(chromedp.KeyEvent(keys))
}

// TestImagePages shows the pages with images in every window.
func TestImagePages(t *testing.T) {
	f := furnish(t)
	f.is.NoErr(f.As(f.alice.ID).SetFavourite(t.Context(), f.whole.ID, true))
	tab := f.signedIn(f.alice)
	for name, path := range map[string]string{
		"seeing-gallery":    "generations",
		"seeing-sought":     "generations?q=island&model=" + model,
		"seeing-nothing":    "generations?q=zebra",
		"seeing-favourites": "generations?favourites=yes",
		"seeing-whole":      "generations/" + string(f.whole.ID),
		"seeing-partial":    "generations/" + string(f.partial.ID),
		"seeing-making":     "generations/" + string(f.making.ID),
		"seeing-choose":     "compare?a=" + string(f.whole.Images[0].ID),
		"seeing-alike":      "compare?a=" + string(f.whole.Images[0].ID) + "&b=" + string(f.whole.Images[3].ID),
		"seeing-compare":    "compare?a=" + string(f.whole.Images[0].ID) + "&b=" + string(f.partial.Images[1].ID),
	} {
		tab.open(path, 200)
		tab.seen(name, 0)
	}
	tab.open("generations/"+string(f.whole.ID), 200)
	tab.do(chromedp.Click(chromedp.JSPath(`document.querySelector("a[data-picture]")`)))
	tab.seen("seeing-lightbox", 720)
	tab.keys("++")
	tab.seen("seeing-zoomed", 720)
	tab.keys(kb.Escape)
}

// lightbox is an expression for what the lightbox shows: the image's number, its zoom, and what has the focus when it
// is closed.
const lightbox = `(() => {
	const box = document.querySelector("#lightbox"), focus = document.activeElement.dataset.picture;
	return box.open ? box.querySelector(".which").textContent + " " + box.querySelector("[data-do=fit]").textContent : "closed, at " + focus;
})()`

// lights waits until the lightbox shows what it should.
func (t *tab) lights(want string) {
	t.Helper()
	t.do(chromedp.WaitReady(chromedp.JSPath(fmt.Sprintf(`%s === %q ? document.body : null`, lightbox, want))))
}

// The lightbox shows all images of a generation, in several sizes, by keys alone.
func TestLightbox(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	g := s.generate(alice, "A red fox in fresh snow", 3)
	tab := s.signedIn(alice)
	tab.open("generations/"+string(g.ID), 200)
	name := func(n int) string { return fmt.Sprintf("a-red-fox-in-fresh-snow-%d.png", n) }
	tab.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("a[data-picture]").focus()`))
	for _, step := range []struct{ keys, shows string }{
		{kb.Enter, "1 of 3 · 320 × 320 Fit"},
		{kb.ArrowRight, "2 of 3 · 320 × 320 Fit"},
		{kb.ArrowLeft + kb.ArrowLeft, "3 of 3 · 320 × 320 Fit"},
		{"+", "3 of 3 · 320 × 320 50 %"},
		{"+++++", "3 of 3 · 320 × 320 400 %"},
		{"-", "3 of 3 · 320 × 320 200 %"},
		{"0", "3 of 3 · 320 × 320 Fit"},
		{kb.Escape, "closed, at " + name(3)},
	} {
		tab.keys(step.keys)
		tab.lights(step.shows)
	}
	tab.keys(kb.Enter + "+++")
	s.is.Equal(evaluate[int](tab, `document.querySelector("#lightbox img").getBoundingClientRect().width`), 640)
	tab.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".stage").focus()`))
	tab.keys(kb.ArrowRight) // moves what is larger than the window, or nothing
	tab.lights("3 of 3 · 320 × 320 200 %")
	s.is.Equal(evaluate[string](tab, `document.querySelector("#lightbox a[download]").download`), name(3))
}

// The clipboard takes an image, and its address.
func TestCopyFromLightbox(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	g := s.generate(alice, "A red fox in fresh snow", 1)
	tab := s.signedIn(alice)
	tab.open("generations/"+string(g.ID), 200)
	tab.permit("clipboard-read", "clipboard-write")
	tab.do(chromedp.Click(chromedp.JSPath(`document.querySelector("a[data-picture]")`)))
	tab.click("Copy link")
	tab.shows("Copied")
	s.is.Equal(evaluate[string](tab, `navigator.clipboard.readText()`), s.address+"/console/images/"+
		string(g.Images[0].ID))
	tab.gone("Copied")
	tab.click("Copy image")
	tab.shows("Copied")
	size := `(async () => { const [i] = await navigator.clipboard.read(); const b = await createImageBitmap(await i.getType("image/png")); return b.width + "x" + b.height; })()`
	s.is.Equal(evaluate[string](tab, size), "320x320")
}

// permit grants a permission for which the browser would ask.
func (t *tab) permit(names ...string) {
	t.Helper()
	for _, name := range names {
		_, err := chromedp.CallBrowser(t.ctx, browser.SetPermission,
			browser.SetPermissionParams{Permission: &browser.PermissionDescriptor{Name: name},
				Setting: browser.PermissionSettingGranted, Origin: t.address,
				BrowserContextID: chromedp.FromContext(t.ctx).BrowserContextID})
		t.is.NoErr(err)
	}
}

// Two images can be chosen and compared without scripts.
func TestCompareWithoutScripts(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	s.generate(alice, "A grey fox", 1)
	g := s.generate(alice, "A red fox", 2)
	tab := s.tab()
	tab.withoutScripts()
	tab.open("signin", 200)
	tab.signIn("alice", secret, 200)
	tab.open("generations/"+string(g.ID), 200)
	tab.press("Compare image 2", 200)
	tab.shows("With which image?")
	tab.leads(200, chromedp.Click(chromedp.JSPath(`document.querySelector("[alt='Image 1 of 1: A grey fox']")`)))
	tab.shows("What differs", "A grey fox", "A red fox")
	s.is.Equal(tab.pictures(), 2)
	tab.press("Swap", 200)
	s.is.Equal(evaluate[string](tab, `document.querySelector(".pair img").alt`), "Image 1 of 1: A grey fox")

	tab.press("Generation of image A", 200)
	tab.press("Favourite", 200)
	s.is.Equal(evaluate[string](tab, `document.getElementById("favour").ariaPressed`), "true")
	tab.press("Generations", 200)
	tab.press("Favourites", 200)
	s.is.Equal(tab.prompts(), []string{"A grey fox"})
	tab.press("All", 200)
	tab.fill("Words of the prompt", "FOX red")
	tab.press("Search", 200)
	s.is.Equal(tab.prompts(), []string{"A red fox"})
	tab.press("Favourites", 200) // within what is sought
	tab.shows("Nothing fits what you search for.")
}

// prompts are those of the gallery.
func (t *tab) prompts() []string {
	t.Helper()
	return evaluate[[]string](t, `[...document.querySelectorAll(".tile .prompt")].map((e) => e.textContent)`)
}

// The favourite button changes in place, and the rest of the page stays.
func TestFavourite(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	g := s.generate(alice, "A red fox", 1)
	tab := s.signedIn(alice)
	tab.open("generations/"+string(g.ID), 200)
	for _, pressed := range []string{"true", "false"} {
		tab.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("favour").focus()`))
		tab.keys(kb.Enter)
		tab.do(chromedp.WaitReady(chromedp.JSPath(`document.querySelector("#favour[aria-pressed=" + ` +
			fmt.Sprintf("%q", pressed) + ` + "]")`)))
		s.is.Equal(evaluate[string](tab, `document.activeElement.id`), "favour") // so that one more press ends it
	}
}

// elsewhere makes the tab hidden, and records notifications.
const elsewhere = `document.hasFocus = () => false; window.notified = [];
	window.Notification = class {
		static permission = "granted";
		static requestPermission = async () => "granted";
		constructor(title, o) { notified.push(title + " | " + o.body); }
	}`

// Every page that waits for images offers a notification, asks for permission only when its button is pressed, and
// shows the outcome in the tab's title.
func TestNotification(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 10})
	g := s.begin(alice, slow, 1)
	tabs := map[string]*tab{}
	for page, said := range map[string]string{
		"generations/" + string(g.ID): "Ready: " + slow + " · imagegend | 1 image has arrived.",
		"playground":                  "Ready: " + slow + " · imagegend | 1 image has arrived.",
		"generations":                 "Ready: Generations · imagegend | 1 generation has ended.",
	} {
		tab := s.signedIn(alice)
		tab.open(page, 200)
		s.is.Equal(evaluate[string](tab, `Notification.permission`), "default") // nobody was asked
		s.is.True(strings.Contains(evaluate[string](tab, `document.title`), "n the making: "))
		tab.permit("notifications")
		tab.do(chromedp.Evaluate[chromedp.Void](elsewhere))
		tab.click("Notify me when done")
		tab.do(chromedp.WaitReady(chromedp.JSPath(`document.querySelector("[data-notify] [aria-pressed=true]")`)))
		tabs[said+" "+page] = tab
	}
	close(s.painter.let)
	for said, tab := range tabs {
		tab.do(chromedp.WaitReady(chromedp.JSPath(`notified.length > 0 ? document.body : null`)))
		notified := evaluate[[]string](tab, `notified`)
		s.is.Equal(len(notified), 1)
		s.is.True(strings.HasPrefix(said, notified[0]))
	}
}

// mostWeight is how many bytes a page may send to a browser without a cache, except the user's own images.
const mostWeight = 120 << 10

// Pages are small, even without a cache.
func TestWeight(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 100})
	for range 24 {
		s.generate(alice, "A red fox in fresh snow", 1)
	}
	g := s.generate(alice, "A grey fox", 2)
	tab := s.signedIn(alice)
	for _, page := range []string{"playground", "generations", "generations/" + string(g.ID),
		"compare?a=" + string(g.Images[0].ID) + "&b=" + string(g.Images[1].ID)} {
		tab.open(page, 200)
		weight := evaluate[int](tab,
			`[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
			.filter((e) => e.initiatorType !== "img").reduce((sum, e) => sum + e.encodedBodySize, 0)`)
		t.Logf("%s: %d bytes", page, weight)
		s.is.True(weight > 10<<10 && weight <= mostWeight)
	}
}
