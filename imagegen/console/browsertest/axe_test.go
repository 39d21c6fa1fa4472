package browsertest_test

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// axe judges whether a page can be used by all; its licence stands beside it.
//
//go:embed axe/axe.min.js
var axe string

// judge makes axe look for violations of the Web Content Accessibility Guidelines, levels A and AA. Then it lets the
// page report what axe itself changed.
const judge = `axe.run({ resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }).then((found) =>
	found.violations.flatMap((v) => v.nodes.map((n) => v.id + " (" + v.impact + "): " + n.html.slice(0, 200) + " " + n.failureSummary))).then((found) =>
	new Promise((resolve) => setTimeout(() => resolve(found))))`

// barriers are the violations that axe finds on the page as it is shown. Reports about axe itself, which inserts styles
// that the policy forbids, are ignored.
func (t *tab) barriers() []string {
	t.Helper()
	complaints := t.eyes.complaints()
	if !evaluate[bool](t, `!!window.axe`) {
		t.do(chromedp.Evaluate[chromedp.Void](axe))
	}
	found := evaluate[[]string](t, judge)
	t.eyes.forget()
	for _, c := range complaints {
		t.Error(c)
	}
	return found
}

// A page with barriers is reported.
func TestBarriers(t *testing.T) {
	s := open(t)
	tab := s.tab()
	tab.open("signin", 200)
	s.is.Equal(len(tab.barriers()), 0)
	tab.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("label").remove();
		document.querySelector("footer").style.color = "color-mix(in srgb, currentcolor 30%, transparent)"`))
	found := strings.Join(tab.barriers(), "\n")
	s.is.True(strings.Contains(found, "label (critical)"))
	s.is.True(strings.Contains(found, "color-contrast (serious)"))
}
