package console_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// awaits is the address that the result polls with waiting; "" if it does not.
func (a answer) awaits() string {
	m := regexp.MustCompile(`<div id="result" tabindex="-1" hx-get="([^"]*)"`).FindStringSubmatch(a.body)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

// asks is the same address without waiting.
func (a answer) asks() string {
	before, _, _ := strings.Cut(a.awaits(), "&wait=")
	return before
}

// The result beside the form polls for changes until the generation has ended.
func TestResultBesideTheForm(t *testing.T) {
	g := newGate()
	s := openOver(t, g.oneByOne)
	v := s.signedIn("alice")
	s.is.True(v.get("playground").has("Your images appear here"))
	v.grant(10)
	first := v.begin("a fox", 2)
	v.reaches(first.ID, imagegen.StatusProcessing)
	second := v.begin("a hare", 1)

	a := v.get("playground?result=" + string(first.ID))
	s.is.True(a.has(`<div id="result"`, `class="place processing"`, "<noscript>", `hx-trigger="load, every 1s"`,
		`data-elapsed="0"`))
	s.is.Equal(a.entered()["prompt"], "a fox")
	s.is.Equal(a.asks(), "/console/playground/results/"+string(first.ID)+"?seen=processing-0-false")
	s.is.Equal(v.get(a.asks()).StatusCode, http.StatusNoContent)
	// the newest, where none is named
	s.is.True(v.get("playground").has("results/" + string(second.ID) + "?seen=queued-0-true"))
	s.is.Equal(v.get("playground").entered()["prompt"], "")

	close(g.opened)
	done := v.get(a.awaits()) // the answer is held back until there is a change
	for done.awaits() != "" {
		done = v.get(done.awaits())
	}
	s.is.True(done.has("2 images have arrived.", `hx-swap-oob="true"`) && !done.has("<html"))
	s.is.Equal(strings.Count(done.body, "<figure>"), 2)
}

// A generation that ends within a moment is one change. One that takes longer is shown under way.
func TestQuickResultComesAtOnce(t *testing.T) {
	for takes, ended := range map[string]bool{"50ms": true, "1s": false} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t)
			v := s.signedIn("alice")
			v.grant(1)
			id := v.begin("[fake:delay="+takes+"] a fox", 1).ID
			v.reaches(id, imagegen.StatusProcessing)
			a := v.get("playground/results/" + string(id) + "?seen=queued-0-true&wait=10")
			s.is.True(a.has(`<div id="result"`))
			s.is.Equal(a.awaits() == "", ended)
		})
	}
}

// Another user's generation cannot be the result.
func TestResultsAreOnesOwn(t *testing.T) {
	s := open(t)
	alice, bob := s.signedIn("alice"), s.signedIn("bob")
	alice.grant(10)
	g := alice.finish("a fox", 1, imagegen.StatusSucceeded)
	for _, page := range []string{"playground?result=", "playground?again=", "playground/results/",
		"playground/strip?result="} {
		s.is.Equal(alice.get(page+string(g.ID)).StatusCode, http.StatusOK)
		s.is.Equal(bob.get(page+string(g.ID)).StatusCode, http.StatusNotFound)
		s.is.Equal(alice.get(page+"gen_unknown").StatusCode, http.StatusNotFound)
	}
}

// A script that sends the form gets the result, what the next one costs, and the token for it.
func TestResultForAScript(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	token := v.get("playground").entered()["token"]
	a := v.postScripted("playground", small("token", token)...)
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has(`<div id="result"`, "Balance 9, afterwards 8.", `<nav id="strip"`))
	s.is.True(a.has(`name="token" value="console-`) && !a.has(token))
}

// The strip shows the other generations under way.
func TestStrip(t *testing.T) {
	g := newGate()
	s := openOver(t, g.oneByOne)
	v := s.signedIn("alice")
	v.grant(10)
	first := v.begin("a fox", 1)
	v.reaches(first.ID, imagegen.StatusProcessing)
	v.begin("a hare", 1)
	a := v.get("playground")
	s.is.Equal(strings.Count(a.body, `#result" hx-get=`), 2)
	strip := "playground/strip?result=" + string(v.made()[0].ID) + "&seen="
	s.is.True(a.has(strings.ReplaceAll(strip, "&", "&amp;") + "q0.p0."))
	s.is.Equal(v.get(strip+"q0.p0.").StatusCode, http.StatusNoContent)
	s.is.True(v.get(strip+"q0.q0.").has(`<nav id="strip"`, "a hare"))
	close(g.opened)
	v.reaches(v.made()[0].ID, imagegen.StatusSucceeded)
	v.reaches(first.ID, imagegen.StatusSucceeded)
	s.is.True(!v.get(strip + "q0.p0.").has("hx-trigger")) // nothing can change any more
}

// A generation that waits can be cancelled beside the form, with and without a script.
func TestCancelInThePlayground(t *testing.T) {
	g := newGate()
	s := openOver(t, g.oneByOne)
	v := s.signedIn("alice")
	v.grant(10)
	v.reaches(v.begin("a fox", 1).ID, imagegen.StatusProcessing)
	for _, header := range [][]string{nil, {"HX-Request", "true"}} {
		id := string(v.begin("a hare", 1).ID)
		cancel := "generations/" + id + "/cancel?in=playground"
		s.is.True(v.get("playground").has(`action="/console/` + cancel))
		a := v.do(http.MethodPost, cancel, nil, append(header, "Sec-Fetch-Site", "same-origin")...)
		if header == nil {
			s.is.Equal(a.redirected(), "/console/playground?result="+id+"#result")
			a = v.get("playground")
		}
		s.is.True(a.has(`<div id="result"`, `<span class="badge failed">`) && !a.has(cancel))
	}
	close(g.opened)
}

// The usual duration of a model is computed from its earlier generations.
func TestUsually(t *testing.T) {
	g := newGate()
	s := openOver(t, g.oneByOne)
	v := s.signedIn("alice")
	v.grant(10)
	for range 3 {
		v.begin("a fox", 1)
	}
	s.is.True(!v.get("playground").has("usually"))
	s.clock.Advance(8 * time.Second)
	s.is.True(v.get("playground").has(`data-elapsed="8000">8 s</span>`))
	close(g.opened)
	for _, g := range v.made() {
		v.reaches(g.ID, imagegen.StatusSucceeded)
	}
	v.begin("[fake:delay=10s] a hare", 1)
	s.is.True(v.get("playground").has(`data-elapsed="0">0 s</span>, usually 8 s`))
}
