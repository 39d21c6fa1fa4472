package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

var (
	fact       = regexp.MustCompile(`(?s)<dt>([^<]*)</dt><dd>(.*?)</dd>`)
	happening  = regexp.MustCompile(`(?s)<li class="(\w+)"><strong>([^<]*)</strong>.*?(?:<p>([^<]*)</p>)?</li>`)
	plainly    = func(s string) string { return html.UnescapeString(strings.TrimSpace(tag.ReplaceAllString(s, ""))) }
	aGenerated = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

// facts are the names and values that a page lists.
func (a answer) facts() map[string]string {
	facts := map[string]string{}
	for _, m := range fact.FindAllStringSubmatch(a.body, -1) {
		facts[m[1]] = plainly(m[2])
	}
	return facts
}

// trail is the list of steps on a generation's page.
func (a answer) trail() (steps []string) {
	_, body, _ := strings.Cut(a.body, `<ol class="trail">`)
	body, _, _ = strings.Cut(body, "</ol>")
	for _, m := range happening.FindAllStringSubmatch(body, -1) {
		steps = append(steps, strings.TrimSpace(m[1]+": "+html.UnescapeString(m[2]+". "+m[3])))
	}
	return steps
}

func TestGeneration(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.clock.Advance(aGenerated.Sub(s.clock.Now()))
	v = s.as(v.user) // signed in at that time
	v.grant(10)
	g := v.finish("a fox\nin snow", 2, imagegen.StatusSucceeded)
	a := v.get("generations/" + string(g.ID))
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("<title>Ready: a fox in snow · imagegend</title>"))
	s.is.Equal(cmp.Diff(map[string]string{"Status": "succeeded", "Model": "fake-1", "Images": "2 of 2",
		"Size": "64 × 48", "Ratio": "4:3", "Resolution": "1K", "Quality": "auto", "References": "none",
		"Cost": "2 credits", "Created": "2 Jan 2026, 03:04 UTC", "Took": "0 s",
		"Identifier": string(g.ID)}, a.facts()), "")
	s.is.Equal(cmp.Diff([]string{"done: Accepted. 2 images of fake-1 in 1K.",
		"done: Charged 2 credits. 2 images at 1 credit each.", "done: Delivered 2 images. They cost 2 credits."},
		a.trail()), "")
	s.is.True(a.has(`<h1 class="prompt">a fox`+"\nin snow</h1>", "?again="+string(g.ID)+
		`">Use again`))
	for _, i := range g.Images {
		s.is.True(a.has(`<img src="/console/images/`+string(i.ID)+`"`, `width="64" height="48"`))
	}
	s.is.True(a.has(`alt="Image 2 of 2: a fox in snow"`, `download="a-fox-in-snow-2.png"`))
	s.is.Equal(a.polls(), "")
	s.is.True(!a.has("<noscript>"))
}

// The steps say what became of the credits, no matter how the generation ended.
func TestTrailOfAGeneration(t *testing.T) {
	begun := []string{"done: Accepted. 3 images of fake-1 in 1K.",
		"done: Charged 3 credits. 3 images at 1 credit each."}
	const nothing = "refund: Refunded 3 credits. Nothing was delivered, and nothing is charged."
	for name, c := range map[string]struct {
		prompt string
		end    imagegen.Status
		says   string // above the rest
		cost   string
		trail  []string
	}{
		"partial": {"[fake:images=1]", imagegen.StatusSucceeded,
			`1 of 3 images came. <span class="amount">2</span> credits went back to your account.`, "1 credit",
			[]string{"done: Delivered 1 image. It cost 1 credit.",
				"refund: Refunded 2 credits. The provider made 2 images fewer than was asked for."}},
		"failed": {"[fake:fail]", imagegen.StatusFailed, `<p class="fault">The provider cannot make these images`,
			"0 credits",
			[]string{"failed: Failed. The provider cannot make these images as they are asked for; the credits were returned; change the request.", nothing}},
		"refused": {"[fake:refuse]", imagegen.StatusFailed,
			`<p class="fault">The provider&#39;s policy refused this request`, "0 credits",
			[]string{"failed: Failed. The provider's policy refused this request; the credits were returned; change the prompt or the reference images.", nothing}},
		"tried again": {"[fake:transient=1]", imagegen.StatusSucceeded, `<div class="pictures">`, "3 credits",
			[]string{"done: Tried again. The provider failed for the moment, 1 time.",
				"done: Delivered 3 images. They cost 3 credits."}},
	} {
		t.Run(name, func(t *testing.T) {
			s := openOver(t, func(c *engine.Config) { c.Attempts.Backoff = []time.Duration{0} })
			v := s.signedIn("alice")
			v.grant(10)
			g := v.finish(c.prompt+" a fox", 3, c.end)
			a := v.get("generations/" + string(g.ID))
			s.is.Equal(cmp.Diff(append(begun[:2:2], c.trail...), a.trail()), "")
			s.is.True(a.has(c.says))
			s.is.Equal(a.facts()["Cost"], c.cost)
		})
	}
}

// Every page and action answers for another user's generation as for one that does not exist.
func TestGenerationsOfOthers(t *testing.T) {
	s := openOver(t, func(c *engine.Config) { c.Thumbnails = true })
	alice, bob := s.signedIn("alice"), s.signedIn("bob")
	alice.grant(10)
	g := alice.finish("a fox", 1, imagegen.StatusSucceeded)
	id, image := string(g.ID), string(g.Images[0].ID)
	for _, path := range []string{"generations/" + id, "generations/" + id + "/live", "generations/" + id +
		"/live?seen=queued", "generations/" + id + "/erase",
		"images/" + image, "thumbnails/" + image, "playground?again=" + id} {
		unknown := strings.NewReplacer(id, id[:len(id)-3]+"777", image, image[:len(image)-3]+"777").Replace(path)
		s.is.Equal(alice.get(path).StatusCode, http.StatusOK)
		s.is.Equal(alice.get(unknown).StatusCode, http.StatusNotFound)
		theirs, none := bob.get(path), bob.get(unknown)
		s.is.Equal(theirs.StatusCode, http.StatusNotFound)
		s.is.Equal(theirs.body, none.body)
		s.is.Equal(cmp.Diff(theirs.Header, none.Header), "")
		s.is.True(strings.HasPrefix(s.visitor().get(path).redirected(), "/console/signin"))
	}
	s.is.Equal(bob.post("generations/"+id+"/erase").StatusCode, http.StatusNotFound)
	s.is.True(strings.HasPrefix(s.visitor().post("generations/"+id+"/erase").redirected(), "/console/signin"))
	s.is.Equal(len(alice.made()[0].Images), 1)
	for _, path := range []string{"generations/x", "generations/x/live", "images/x", "images/image_", "thumbnails/x",
		"playground?again=x"} {
		s.is.Equal(alice.get(path).StatusCode, http.StatusNotFound)
	}
}

// A prompt is shown as text on every page.
func TestHostilePromptInPages(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	const prompt = "</textarea></script><script>alert(1)</script> \"'> <img src=x onerror=alert(2)> {{.}} ${7*7}"
	g := v.finish(prompt, 1, imagegen.StatusSucceeded)
	for _, path := range []string{"generations", "generations/" + string(g.ID), "generations/" + string(g.ID) +
		"/erase", "playground?again=" + string(g.ID)} {
		a := v.get(path)
		s.is.Equal(a.StatusCode, http.StatusOK)
		s.is.True(!a.has("<script>"))
		s.is.True(!a.has("<img src=x"))
		s.is.True(a.has(html.EscapeString("<script>alert(1)</script>")[:20]))
	}
	a := v.post("playground", "prompt", prompt, "n", url.QueryEscape("<script>"))
	s.is.True(a.StatusCode == http.StatusUnprocessableEntity && !a.has("<script>") && !a.has("<img src=x"))
}
