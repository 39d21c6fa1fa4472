package browsertest_test

import "testing"

// TestOverview shows the overview of a busy service on a telephone and on a screen: it fits the window, and is
// accessible.
func TestOverview(t *testing.T) {
	f := furnish(t)
	operator := f.signedIn(f.olivia)
	operator.press("Overview", 200)
	operator.shows("Credits spent per day", "Upstreams, hour by hour", "Who spent most", "alice",
		"Last backup", "verified")
	for _, l := range []look{{"narrow", "light", 360}, {"narrow-dark", "dark", 360}, {"wide", "light", 1280},
		{"wide-dark", "dark", 1280}} {
		operator.wear(l)
		operator.fits(l.name)
		for _, broken := range evaluate[[]string](operator, brokenTables) {
			t.Errorf("%s: %s", l.name, broken)
		}
		for _, barrier := range operator.barriers() {
			t.Errorf("%s: %s", l.name, barrier)
		}
		operator.keep(view{name: "overview"}, l)
	}
	operator.press("365 days", 200)
	operator.shows("Last 365 days")
}
