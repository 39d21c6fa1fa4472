package browsertest_test

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console"
)

// patience is how long a test waits for an expected event.
const patience = time.Minute

// tab is a browser with one page and its own cookies. Tests operate it by visible text: labels of fields, and texts of
// buttons and links.
type tab struct {
	*site
	ctx    context.Context
	eyes   *eyes
	byKeys bool // it is operated by the keyboard alone
}

// tab opens an empty tab. Complaints in it fail the test at its end.
func (s *site) tab() *tab {
	s.Helper()
	t := s.anyTab()
	s.Cleanup(func() {
		t.is.True(evaluate[bool](t, `true`)) // events of the tab until now arrive before
		for _, complaint := range t.eyes.complaints() {
			s.Error(complaint)
		}
	})
	return t
}

// anyTab opens a tab in which complaints do not fail the test.
func (s *site) anyTab() *tab {
	s.Helper()
	ctx, closeTab := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	s.Cleanup(closeTab)
	s.is.NoErr(chromedp.Do(ctx))
	return &tab{site: s, ctx: ctx, eyes: s.watch(ctx)}
}

// signedIn is a tab in which a user has signed in.
func (s *site) signedIn(u imagegen.User) *tab {
	s.Helper()
	t := s.tab()
	t.open("signin", 200)
	t.signIn(u.Name, secret, 200)
	return t
}

// signIn fills in the form that the tab shows.
func (t *tab) signIn(name, password string, status int) {
	t.Helper()
	t.fill("Name", name)
	t.fill("Password", password)
	t.press("Sign in", status)
}

// do runs actions within patience.
func (t *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatalf("%v; the page at %s says:\n%s", err, t.path(), t.text())
	}
}

// leads runs actions that load another page, and checks its status.
func (t *tab) leads(status int, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if status >= 400 {
		t.eyes.expect(status)
	}
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	answer, err := chromedp.RunResponse(ctx, steps...)
	if err != nil {
		t.Fatalf("%v; the page at %s says:\n%s", err, t.path(), t.text())
	}
	if answer == nil || int(answer.Status) != status {
		t.Fatalf("%s answered %+v, not %d:\n%s", t.path(), answer, status, t.text())
	}
}

// open goes to a page of the console by its path, or by its whole address.
func (t *tab) open(page string, status int) {
	t.Helper()
	if !strings.Contains(page, "://") {
		page = t.address + console.DefaultPath + page
	}
	t.leads(status, chromedp.Navigate(page))
}

// fill replaces the value of the field with a label.
func (t *tab) fill(label, text string) {
	t.Helper()
	at := control(label)
	if t.byKeys {
		t.reach(at)
		t.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent(text))
		return
	}
	t.do(chromedp.WaitVisible(at), chromedp.Evaluate[chromedp.Void](string(at)+`.select()`),
		chromedp.SendKeys(at, text))
}

// choose marks the radio button of a label.
func (t *tab) choose(label string) {
	t.Helper()
	t.do(chromedp.Click(find(`"label"`, label, ``)))
}

// attach chooses a file for the field of a label, in what unfolds for references.
func (t *tab) attach(label, file string) {
	t.Helper()
	t.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#drop:not([open]) > summary")?.click()`),
		chromedp.SetUploadFiles(control(label), []string{file}))
}

// press presses the button or link with this text, which loads another page.
func (t *tab) press(words string, status int) {
	t.Helper()
	if t.byKeys {
		t.reach(labelled(words))
		t.leads(status, chromedp.KeyEvent(kb.Enter))
		return
	}
	t.leads(status, chromedp.Click(labelled(words)))
}

// reach moves the focus from where it is, by the tabulator, until an element has it.
func (t *tab) reach(at chromedp.JSPath) {
	t.Helper()
	t.do(chromedp.WaitReady(at))
	const far = 200
	for range far {
		if evaluate[bool](t, `document.activeElement === (`+string(at)+`)`) {
			return
		}
		t.do(chromedp.KeyEvent(kb.Tab))
	}
	t.Fatalf("no %d presses of the tabulator lead to %s at %s", far, at, t.path())
}

// click is press for a button that stays on the page.
func (t *tab) click(words string) {
	t.Helper()
	t.do(chromedp.Click(labelled(words)))
}

// unfold opens what is folded under these words.
func (t *tab) unfold(words string) {
	t.Helper()
	if t.byKeys {
		t.reach(labelled(words))
		t.do(chromedp.KeyEvent(kb.Enter))
		return
	}
	t.click(words)
}

// shows waits until all of the texts are visible on the page.
func (t *tab) shows(texts ...string) {
	t.Helper()
	for _, text := range texts {
		t.do(chromedp.WaitReady(
			chromedp.JSPath(fmt.Sprintf(`document.body?.innerText.includes(%s) ? document.body : null`,
				strconv.Quote(text)))))
	}
}

// gone waits until a text is not on the page any more.
func (t *tab) gone(text string) {
	t.Helper()
	t.until(fmt.Sprintf(`document.body?.innerText.includes(%s) === false`, strconv.Quote(text)))
}

// until waits until a condition in JavaScript holds.
func (t *tab) until(condition string) {
	t.Helper()
	t.do(chromedp.WaitReady(chromedp.JSPath(fmt.Sprintf(`(%s) ? document.body : null`, condition))))
}

// lacks checks that none of the texts is on the page.
func (t *tab) lacks(texts ...string) {
	t.Helper()
	said := t.text()
	for _, text := range texts {
		if strings.Contains(said, text) {
			t.Fatalf("the page at %s should not say %q, and says:\n%s", t.path(), text, said)
		}
	}
}

// text is the visible text of the page.
func (t *tab) text() string { return evaluate[string](t, `document.body.innerText`) }

// path is where the tab is, below the console's own path.
func (t *tab) path() string {
	at, err := url.Parse(evaluate[string](t, `location.href`))
	t.is.NoErr(err)
	return strings.TrimPrefix(at.Path, console.DefaultPath)
}

// evaluate returns the value of an expression in the page, of a promise when it is kept.
func evaluate[T any](t *tab, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	t.is.NoErr(err)
	return v
}

// control finds a field by its label, or by the beginning of that.
func control(label string) chromedp.JSPath {
	return find(`"label"`, label, `?.control`)
}

// labelled finds a button or a link by its words; what stands outside of the navigation comes first.
func labelled(words string) chromedp.JSPath {
	return find(`"main button", "main a", "main summary", "button", "a"`, words, ``)
}

func find(selectors, words, then string) chromedp.JSPath {
	return chromedp.JSPath(fmt.Sprintf(`(() => {
		const said = (e) => e.textContent.replace(/\s+/g, " ").trim(), words = %s;
		const all = [%s].flatMap((s) => [...document.querySelectorAll(s)]).filter((e) => e.checkVisibility());
		return (all.find((e) => said(e) === words) ?? all.find((e) => said(e).startsWith(words)))%s;
	})()`, strconv.Quote(words), selectors, then))
}
