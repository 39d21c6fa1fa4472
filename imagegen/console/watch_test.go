package console_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
)

var polled = regexp.MustCompile(`hx-get="([^"]*)"`)

// polls is the address that a page polls; "" if it does not.
func (a answer) polls() string {
	m := polled.FindStringSubmatch(a.body)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

// The gallery polls for changes until all generations have ended.
func TestGalleryUpdatesItself(t *testing.T) {
	g := newGate()
	s := openOver(t, g.oneByOne)
	v := s.signedIn("alice")
	v.grant(10)
	first := v.begin("a fox", 1)
	v.reaches(first.ID, imagegen.StatusProcessing)
	second := v.begin("a hare", 1)

	a := v.get("generations")
	s.is.True(a.has("<title>2 in the making: Generations · imagegend</title>", `<span class="badge processing">`,
		`<span class="badge queued">`, `hx-trigger="every 3s"`, "<noscript>"))
	s.is.Equal(v.get(a.polls(), "HX-Request", "true").StatusCode, http.StatusNoContent) // all is as the page shows it

	earlier := v.get("/console/generations/changes?seen=" + string(second.ID) + ":queued&seen=" + string(first.ID) +
		":queued")
	s.is.Equal(earlier.tiles(), []string{string(first.ID)})
	s.is.True(earlier.has(`hx-swap-oob="true"`))
	s.is.Equal(earlier.polls(), a.polls()) // both are watched on
	s.is.True(!earlier.has("ended."))

	close(g.opened)
	v.reaches(first.ID, imagegen.StatusSucceeded)
	v.reaches(second.ID, imagegen.StatusSucceeded)
	last := v.get(a.polls(), "HX-Request", "true")
	s.is.Equal(last.StatusCode, http.StatusOK)
	s.is.Equal(len(last.tiles()), 2)
	s.is.True(last.has("<title>Ready: Generations · imagegend</title>", "2 generations have ended.",
		`<div id="watch" data-done="2 generations have ended."></div>`, "/console/thumbnails/"))
	s.is.Equal(last.polls(), "")
	s.is.True(!last.has("<html")) // a part of a page
}

// A generation that is erased, another user's, or does not exist is no longer polled, and the answers do not differ.
func TestWatchOfWhatIsNotThere(t *testing.T) {
	s := open(t)
	alice, bob := s.signedIn("alice"), s.signedIn("bob")
	alice.grant(10)
	g := alice.finish("a fox", 1, imagegen.StatusSucceeded)
	s.is.Equal(bob.get("generations/changes").StatusCode, http.StatusNoContent)
	unknown := bob.get("generations/changes?seen=gen_unknown:queued")
	s.is.Equal(unknown.StatusCode, http.StatusOK)
	s.is.True(unknown.has(`<div id="watch"></div>`))
	s.is.Equal(bob.get("generations/changes?seen="+string(g.ID)+":queued").body, unknown.body)
	s.is.NoErr(s.Engine.Erase(t.Context(), g.ID))
	s.is.Equal(alice.get("generations/changes?seen="+string(g.ID)+":queued").body, unknown.body)

	many := "generations/changes?" + strings.Repeat("seen=gen_unknown:queued&", 25)
	s.is.Equal(alice.get(many).StatusCode, http.StatusBadRequest)
}

// A generation's page polls until the generation has ended.
func TestGenerationUpdatesItself(t *testing.T) {
	g := newGate()
	s := openOver(t, g.oneByOne)
	v := s.signedIn("alice")
	v.grant(10)
	first := v.begin("a fox", 2)
	v.reaches(first.ID, imagegen.StatusProcessing)
	second := v.begin("[fake:fail] a hare", 2)

	waiting := v.get("generations/" + string(second.ID))
	s.is.True(waiting.has("waits for its turn", "Waiting", `<span class="badge queued">`,
		"2</span> credits"))
	s.is.True(!waiting.has("Erase"))
	s.is.Equal(waiting.polls(), "/console/generations/"+string(second.ID)+"/live?seen=queued-0-true")
	s.is.Equal(v.get(waiting.polls()).StatusCode, http.StatusNoContent)

	a := v.get("generations/" + string(first.ID))
	s.is.True(a.has("in the making", `hx-trigger="every 2s"`, `class="place processing"`))
	s.is.Equal(strings.Count(a.body, `<figure class="place`), 2)
	s.is.Equal(v.get(a.polls()).StatusCode, http.StatusNoContent)
	moved := v.get("generations/" + string(first.ID) + "/live?seen=queued")
	s.is.True(moved.has("The images are being made.", `hx-swap-oob="innerHTML"`))
	s.is.Equal(moved.polls(), a.polls())

	close(g.opened)
	v.reaches(first.ID, imagegen.StatusSucceeded)
	v.reaches(second.ID, imagegen.StatusFailed)
	done := v.get(a.polls())
	s.is.Equal(done.polls(), "")
	s.is.True(moved.has("<title>In the making: ") && done.has("<title>Ready: "))
	s.is.True(done.has("2 images have arrived.", "Delivered 2 images") && !done.has("<html"))
	failed := v.get(waiting.polls())
	s.is.Equal(failed.polls(), "")
	s.is.True(failed.has("The generation has failed. The credits were returned.", "Refunded 2 credits"))
}

// After the sign-in has ended, a polling page loads the sign-in page as a whole.
func TestPollingEndsWithTheSignIn(t *testing.T) {
	g := newGate()
	s := openOver(t, g.oneByOne)
	v := s.signedIn("alice")
	s.Grant(t, v.user.ID, 1)
	id := v.begin("a fox", 1).ID
	a := v.get("generations/" + string(id))
	s.is.NoErr(s.DB.EndSignIns(t.Context(), v.user.ID))
	away := v.get(a.polls(), "HX-Request", "true")
	s.is.True(strings.HasPrefix(away.Header.Get("HX-Redirect"), "/console/signin"))
}
