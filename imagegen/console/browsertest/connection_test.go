package browsertest_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// While the service cannot be reached, the bar says so where the user looks, and shows no price, which may be another
// by then. Once the service answers, the bar is as before, without a reload, and images that were missed are there.
func TestLostConnection(t *testing.T) {
	s := open(t)
	alice := s.user("alice", account.RoleUser)
	s.grant(alice, imagegen.Grant{Credits: 11})
	s.generate(alice, "A blue whale", 1)
	tab := s.anyTab() // in which the browser complains
	tab.open("signin", 200)
	tab.signIn("alice", secret, 200)
	for _, window := range [][2]int64{{360, 640}, {1280, 720}} {
		tab.sized(window[0], window[1])
		tab.open("playground", 200)
		tab.fill("Prompt", "A red fox in fresh snow")
		tab.choose("1")
		tab.shows("1 credit", "Balance 10, afterwards 9.")
		tab.cut(true)
		tab.choose("4")
		tab.shows("The price is not known: the service cannot be reached.")
		tab.lacks("Balance", "afterwards")
		s.is.Equal(evaluate[string](tab, `document.querySelector("#cost .price").innerText`), "–")
		evaluate[any](tab, `scrollTo(0, 0); document.getElementById("generate").click()`)
		tab.shows("The connection was lost. Press Generate again: you pay once.")
		tab.lacks("The price is not known") // one message for one cause
		s.is.Equal(evaluate[string](tab, `document.querySelector("#cost .price").innerText`), "–")
		s.is.Equal(evaluate[float64](tab, `scrollY`), 0.0) // the bar is in view already
		s.is.True(evaluate[bool](tab, `(() => {
			const note = document.querySelector(".send [role=alert]"), r = note.getBoundingClientRect();
			return r.height > 0 && r.top >= 0 && r.bottom <= innerHeight;
		})()`))
		evaluate[any](tab, `document.querySelector("#strip img").src += "?" + performance.timeOrigin`)
		tab.until(`(() => { const i = document.querySelector("#strip img"); return i.complete && i.naturalWidth === 0; })()`)
		tab.cut(false)
		tab.shows("4 credits", "Balance 10, afterwards 6.") // by itself
		tab.gone("The connection was lost.")
		tab.until(`document.querySelector("#strip img").naturalWidth > 0`)
		tab.lacks("cannot be reached")
	}
	tab.choose("1")
	tab.shows("Balance 10, afterwards 9.")
	tab.click("Generate")
	tab.shows("succeeded", "Balance 9, afterwards 8.")
}

// cut cuts the connection of a tab, or mends it.
func (t *tab) cut(off bool) {
	t.Helper()
	type conditions struct { // Chromium 148 takes Offline for all requests, later ones for those of each rule
		Offline bool `json:"offline"`
		network.EmulateNetworkConditionsByRuleParams
	}
	emulate := cdp.Command[conditions, network.EmulateNetworkConditionsByRuleResult]{
		Method: network.CommandEmulateNetworkConditionsByRule}
	t.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulate, conditions{off, network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{
				{Offline: off, DownloadThroughput: -1, UploadThroughput: -1}}}})
		return err
	}))
}
