package console_test

import (
	"context"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// fault is the fault shown at a field; "" if there is none.
func (a answer) fault(name string) string {
	m := regexp.MustCompile(`<p class="fault" id="f-` + name + `-fault"[^>]*>([^<]*)</p>`).FindStringSubmatch(a.body)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

// shown is the price that the page sends back as the one that it has shown.
func (a answer) shown() string {
	_, after, _ := strings.Cut(a.body, `name="max_credits" value="`)
	price, _, _ := strings.Cut(after, `"`)
	return price
}

// entered is what the playground's form holds, by field, but for the price that was shown.
func (a answer) entered() map[string]string {
	values := map[string]string{}
	_, after, _ := strings.Cut(a.body, `<form id="play"`)
	form, _, _ := strings.Cut(after, "</form>")
	for _, pattern := range []*regexp.Regexp{
		regexp.MustCompile(`<input type="radio" id="[^"]*" name="(\w+)" value="([^"]*)" checked>`),
		regexp.MustCompile(`<input id="f-(width|height|seed)"[^>]* value="([^"]*)"`),
		regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`),
		regexp.MustCompile(`(?s)<textarea id="f-(prompt)"[^>]*>(.*?)</textarea>`),
	} {
		for _, m := range pattern.FindAllStringSubmatch(form, -1) {
			values[m[1]] = html.UnescapeString(m[2])
		}
	}
	for _, m := range regexp.MustCompile(`(?s)<select id="f-(\w+)"(.*?)</select>`).FindAllStringSubmatch(form, -1) {
		if chosen := regexp.MustCompile(`<option value="([^"]*)" selected>`).FindStringSubmatch(m[2]); chosen != nil {
			values[m[1]] = chosen[1]
		}
	}
	delete(values, "max_credits")
	return values
}

// cost is what the page says of the price.
func (a answer) cost() string {
	_, after, _ := strings.Cut(a.body, `<div id="cost"`)
	inside, _, _ := strings.Cut(after, "</div>")
	_, inside, _ = strings.Cut(inside, ">")
	return plainly(spaces.ReplaceAllString(inside, " "))
}

// small is a form that asks for an image which is quickly drawn, with other values for some fields.
func small(pairs ...string) []string {
	for i, defaults := 0, []string{"prompt", "a fox", "ratio", "own", "width", "64", "height",
		"48"}; i < len(defaults); i += 2 {
		if n := slices.Index(pairs, defaults[i]); n < 0 || n%2 != 0 {
			pairs = append(pairs, defaults[i:i+2]...)
		}
	}
	return pairs
}

func TestPlayground(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	a := v.get("playground")
	s.is.Equal(a.StatusCode, http.StatusOK)
	e := a.entered()
	s.is.True(len(e["token"]) > 20)
	s.is.True(e["token"] != v.get("playground").entered()["token"])
	delete(e, "token")
	s.is.Equal(cmp.Diff(map[string]string{"prompt": "", "model": "fake-1", "ratio": "auto", "tier": "1K", "n": "1",
		"quality": "auto", "width": "", "height": "", "output_format": "", "background": "", "seed": ""}, e), "")
	s.is.Equal(a.cost(), "1 credit 1 image × 1 credit · 1K Balance 10, afterwards 9. Images that fail are refunded.")
	s.is.True(a.has(`<span>2K</span><small>2 credits</small>`, `<span>4K</span><small>4 credits</small>`,
		"At most 32,000 characters.", "at most 16"))
	s.is.True(a.has(`placeholder="A red fox in fresh snow, early morning light"`, "PNG, JPEG or WebP up to 50 MiB each",
		"<span>Exact</span>", "In pixels, from 16 to 8192. An exact size has its own price."))
	s.is.Equal(strings.Count(a.body, `name="ratio"`), len(imagegen.Ratios())+1)
}

// The form works without scripts, and leads to the result.
func TestCreate(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	for name, post := range map[string]func(...string) answer{
		"urlencoded": func(pairs ...string) answer { return v.post("playground", pairs...) },
		"multipart":  func(pairs ...string) answer { return v.postFiles("playground", nil, pairs...) },
	} {
		before := v.balance()
		a := post(small("prompt", "a fox ("+name+")", "n", "2", "quality", "low", "token",
			v.get("playground").entered()["token"])...)
		s.is.Equal(a.redirected(), "/console/playground?result="+string(v.made()[0].ID)+"#result")
		g := v.reaches(v.made()[0].ID, imagegen.StatusSucceeded)
		s.is.Equal(cmp.Diff([]any{"a fox (" + name + ")", 2, imagegen.QualityLow, imagegen.Size{Width: 64, Height: 48},
			0},
			[]any{g.Prompt, g.N, g.Quality, g.Size, g.ReferenceCount}), "")
		s.is.Equal(v.balance(), before-2)
		page := v.get("playground?result=" + string(g.ID))
		s.is.Equal(strings.Count(page.body, "<figure>"), 2)
		s.is.Equal(page.entered()["prompt"], g.Prompt) // one goes on from there
	}
}

// Ratio and tier become a size. Line breaks of the prompt are those that a program would send.
func TestCreateByRatio(t *testing.T) {
	s := openOver(t, newGate().oneByOne)
	v := s.signedIn("alice")
	v.grant(100)
	for _, c := range []struct {
		ratio, tier, quality string
		size                 imagegen.Size
		cost                 imagegen.Credits
		asked                imagegen.Quality
	}{
		{"1:1", "1K", "auto", imagegen.Size{Width: 1024, Height: 1024}, 1, "auto"},
		{"1:1", "4K", "low", imagegen.Size{Width: 2880, Height: 2880}, 4, "low"},
		{"auto", "1K", "auto", imagegen.Size{}, 1, "auto"},
		{"auto", "2K", "auto", imagegen.Size{}, 2, "medium"}, // without a size it is the quality that makes the tier
		{"auto", "4K", "high", imagegen.Size{}, 4, "high"},
	} {
		before := v.balance()
		a := v.post("playground", "prompt", " a fox\r\nin snow ", "ratio", c.ratio, "tier", c.tier, "quality",
			c.quality)
		s.is.Equal(a.StatusCode, http.StatusSeeOther)
		g := v.made()[0]
		s.is.Equal(g.Prompt, "a fox\nin snow")
		s.is.Equal([]any{g.Size, g.Tier, g.Quality, before - v.balance()}, []any{c.size, imagegen.Tier(c.tier), c.asked,
			c.cost})
	}
}

// Each fault is shown at its field, everything that was entered is kept, and nothing is charged.
func TestCreateIsRefused(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	long := strings.Repeat("狐", 32_001)
	for name, c := range map[string]struct {
		pairs       []string
		field, says string
	}{
		"no prompt": {[]string{"prompt", " \r\n "}, "prompt", "Describe the image that you want."},
		"long prompt": {[]string{"prompt", long}, "prompt",
			"The prompt has 32001 characters; fake-1 takes 32000. Shorten it."},
		"unknown model":   {[]string{"model", "<b>"}, "model", "<b> is not on offer; choose another model."},
		"unknown tier":    {[]string{"tier", "8K"}, "tier", "fake-1 does not offer this resolution; choose another."},
		"unknown ratio":   {[]string{"ratio", "7:1"}, "ratio", "fake-1 does not offer this shape; choose another."},
		"too many images": {[]string{"n", "5"}, "n", "Choose from 1 to 4 images."},
		"no images":       {[]string{"n", "0"}, "n", "Choose from 1 to 4 images."},
		"no number":       {[]string{"n", "two"}, "n", "Choose from 1 to 4 images."},
		"unknown quality": {[]string{"quality", "best"}, "quality", "Choose auto, low, medium or high."},
		"no size":         {[]string{"ratio", "own"}, "size", "Give both edges in whole pixels, from 16 to 8192."},
		"large size": {[]string{"ratio", "own", "width", "99999", "height", "20"}, "size",
			"Give both edges in whole pixels, from 16 to 8192."},
		"small size": {[]string{"ratio", "own", "width", "15", "height", "20"}, "size",
			"Give both edges in whole pixels, from 16 to 8192."},
		"size out of shape": {[]string{"ratio", "own", "width", "8192", "height", "16"}, "size",
			"Size 8192x16 is too narrow for model"},
		"other quality": {[]string{"ratio", "auto", "tier", "2K", "quality", "high"}, "quality",
			"With this shape, quality high is made and priced as 4K. Choose auto, or 4K."},
		"directive": {[]string{"prompt", "[fake:nonsense]"}, "", "[fake:nonsense]"},
		"token": {[]string{"token", "two words"}, "",
			"An idempotency key is 1 to 255 visible ASCII characters."},
	} {
		t.Run(name, func(t *testing.T) {
			sent := map[string]string{"prompt": "a fox", "model": "fake-1", "ratio": "1:1", "tier": "1K", "n": "2",
				"quality": "low", "token": "t-" + strings.ReplaceAll(name, " ", "-")}
			for i := 0; i < len(c.pairs); i += 2 {
				sent[c.pairs[i]] = c.pairs[i+1]
			}
			var pairs []string
			for name, value := range sent {
				pairs = append(pairs, name, value)
			}
			a := v.postFiles("playground", nil, pairs...)
			if a.StatusCode != http.StatusUnprocessableEntity {
				t.Errorf("%s", a.Status)
			}
			if c.field == "" && !strings.Contains(html.UnescapeString(a.body), c.says) || c.field != "" &&
				!strings.HasPrefix(a.fault(c.field), c.says) {
				t.Errorf("%q", a.fault(c.field))
			}
			if c.field != "" && c.field != "model" /* there is only one */ && !a.has(`aria-invalid="true"`, `f-`+
				c.field+`-fault`) {
				t.Error("the field is not marked")
			}
			for name, value := range a.entered() {
				if want := strings.TrimSpace(sent[name]); value != want && name != c.field {
					t.Errorf("%s: %.40q, and not %.40q as it was sent", name, value, want)
				}
			}
		})
	}
	s.is.Equal(v.balance(), imagegen.Credits(10))
	s.is.Equal(len(v.made()), 0)
}

// With too few credits the page shows cost and balance, before and after the form is sent.
func TestTooFewCredits(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(3)
	const says = "This costs 8 credits, and there are 3 credits. Ask the operator for credits."
	s.is.True(v.get("playground").has("Balance 3, afterwards 2."))
	ask := []string{"prompt", "a fox", "ratio", "1:1", "tier", "4K", "n", "2", "token", "t"}
	s.is.Equal(v.post("playground", append(ask, "show", "cost")...).cost(),
		"8 credits 2 images × 4 credits · 4K · 2880 × 2880 "+says)
	a := v.post("playground", ask...)
	s.is.Equal(a.StatusCode, http.StatusPaymentRequired)
	s.is.True(a.has(`role="alert">` + says))
	s.is.Equal(a.entered()["tier"], "4K")
	s.is.Equal(a.entered()["token"], "t")
	s.is.Equal(v.balance(), imagegen.Credits(3))
	s.is.Equal(len(v.made()), 0)
	fewer := v.post("playground", "prompt", "a fox", "ratio", "1:1", "tier", "2K", "n", "2")
	s.is.True(fewer.has("Ask for fewer images, or the operator for credits."))
	// nothing was kept under the token
	s.is.Equal(v.post("playground", small("n", "3", "token", "t")...).StatusCode, http.StatusSeeOther)
}

// A form that is sent repeatedly makes one generation. Another form with the same token is refused.
func TestFormSentTwice(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	token := v.get("playground").entered()["token"]
	var answers [8]answer
	var browsers sync.WaitGroup
	for i := range answers {
		again := s.as(v.user)
		browsers.Go(func() { answers[i] = again.post("playground", small("token", token)...) })
	}
	browsers.Wait()
	s.is.Equal(len(v.made()), 1)
	for _, a := range answers {
		s.is.Equal(a.redirected(), "/console/playground?result="+string(v.made()[0].ID)+"#result")
	}
	s.is.Equal(v.balance(), imagegen.Credits(9))

	other := v.post("playground", small("token", token, "prompt", "a hare")...)
	s.is.Equal(other.StatusCode, http.StatusConflict)
	s.is.True(other.has("This form was sent before, with other content."))
	e := other.entered()
	s.is.Equal([]string{e["prompt"], e["width"]}, []string{"a hare", "64"})
	s.is.True(e["token"] != token)
}

// twoModels adds a second model with fewer capabilities.
func twoModels(c *engine.Config) {
	none := 0
	c.Models = append(c.Models, engine.Model{ID: "tiny", Provider: c.Models[0].Provider, MaxImages: 1,
		MaxReferences: &none, MaxPrompt: 5, Credits: map[imagegen.Tier]imagegen.Credits{"2K": 7},
		Ratios: []imagegen.Ratio{"1:1", "3:2"}})
}

// A change of the model resets the choices that it does not offer, and keeps the others.
func TestAnotherModel(t *testing.T) {
	s := openOver(t, twoModels)
	v := s.signedIn("alice")
	v.grant(10)
	a := v.post("playground", "prompt", "a fox", "model", "tiny", "ratio", "16:9", "tier", "4K", "n", "3", "quality",
		"low", "show", "model", "token", "t")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.Equal(cmp.Diff(map[string]string{"prompt": "a fox", "model": "tiny", "ratio": "auto", "tier": "2K", "n": "1",
		"quality": "auto", "width": "", "height": "", "output_format": "", "background": "", "seed": "", "token": "t"},
		a.entered()), "")
	s.is.Equal(a.cost(), "7 credits 1 image × 7 credits · 2K Balance 10, afterwards 3. Images that fail are refunded.")
	s.is.True(!a.has(`type="file"`) && a.has("At most 5 characters."))
	back := v.post("playground", "prompt", "a red fox", "model", "fake-1", "ratio", "3:2", "tier", "2K", "n", "1",
		"show", "model").entered()
	s.is.Equal([]string{back["prompt"], back["ratio"], back["tier"]}, []string{"a red fox", "3:2", "2K"})
	long := v.post("playground", "prompt", "a red fox", "model", "tiny", "tier", "1K", "show", "model")
	s.is.Equal(long.fault("prompt"), "The prompt has 9 characters; tiny takes 5. Shorten it.")
	s.is.Equal(len(v.made()), 0)
	s.is.Equal(v.post("playground", "prompt", "fox", "model", "tiny").StatusCode, http.StatusSeeOther)
	s.is.Equal(v.made()[0].Model, "tiny")
}

// Without scripts a button shows the cost or the faults, and makes nothing.
func TestUpdateTheCost(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	a := v.post("playground", "prompt", "", "ratio", "own", "width", "1200", "height", "630", "n", "3", "show", "cost")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.Equal(a.cost(),
		"3 credits 3 images × 1 credit · 1K · 1200 × 630 Balance 10, afterwards 7. Images that fail are refunded.")
	s.is.Equal(a.fault("prompt"), "")
	bad := v.post("playground", "prompt", "a fox", "ratio", "own", "width", "1200", "height", "six", "show", "cost")
	s.is.Equal(bad.StatusCode, http.StatusOK)
	s.is.Equal(bad.fault("size"), bad.cost())
	s.is.Equal(bad.entered()["height"], "six")
	s.is.Equal(v.balance(), imagegen.Credits(10))
}

// "Use again" fills the form with the request of a generation.
func TestUseAgain(t *testing.T) {
	s := openOver(t, func(c *engine.Config) { twoModels(c); newGate().oneByOne(c) })
	v := s.signedIn("alice")
	v.grant(100)
	for _, sent := range []map[string]string{
		{"prompt": "a fox\nin snow", "model": "fake-1", "ratio": "21:9", "tier": "2K", "n": "3", "quality": "low",
			"width": "", "height": "", "output_format": "webp", "background": "transparent", "seed": "7"},
		{"prompt": "a fox", "model": "fake-1", "ratio": "own", "tier": "1K", "n": "1", "quality": "high",
			"width": "1200", "height": "630", "output_format": "jpeg", "background": "opaque", "seed": ""},
		{"prompt": "a fox", "model": "fake-1", "ratio": "auto", "tier": "4K", "n": "1", "quality": "high", "width": "",
			"height": "", "output_format": "", "background": "", "seed": ""},
		{"prompt": "a fox", "model": "tiny", "ratio": "3:2", "tier": "2K", "n": "1", "quality": "auto", "width": "",
			"height": "", "output_format": "", "background": "", "seed": ""},
	} {
		var pairs []string
		for name, value := range sent {
			pairs = append(pairs, name, value)
		}
		s.is.Equal(v.post("playground", pairs...).StatusCode, http.StatusSeeOther)
		former := v.made()[0]
		a := v.get("playground?again=" + string(former.ID))
		again := a.entered()
		s.is.True(!a.has("not kept: choose"))
		s.is.True(again["token"] != "")
		delete(again, "token")
		s.is.Equal(cmp.Diff(sent, again), "")
	}
}

// Under overload nothing is charged, and nothing that was entered is lost.
func TestTooMuchWork(t *testing.T) {
	s := openOver(t, func(c *engine.Config) { newGate().oneByOne(c); c.Limits.MaxQueued = 1 })
	v := s.signedIn("alice")
	v.grant(10)
	v.reaches(v.begin("a fox", 1).ID, imagegen.StatusProcessing)
	v.begin("a hare", 1)
	a := v.post("playground", small("token", "t")...)
	s.is.Equal(a.StatusCode, http.StatusServiceUnavailable)
	s.is.True(a.has("There is too much work at the moment. Nothing was charged; try again in a few seconds."))
	s.is.Equal([]string{a.entered()["prompt"], a.entered()["token"]}, []string{"a fox", "t"})
	s.is.Equal(v.balance(), imagegen.Credits(8))
}

// Without a model there is no form. A model without ratios offers none.
func TestNoModel(t *testing.T) {
	s := openOver(t, func(c *engine.Config) { c.Models = nil })
	v := s.signedIn("alice")
	a := v.get("playground")
	s.is.True(a.StatusCode == http.StatusOK && a.has("No model is on offer", "/console/generations") &&
		!a.has("<textarea"))
	s.is.Equal(v.post("playground", small()...).StatusCode, http.StatusUnprocessableEntity)

	s = openOver(t, func(c *engine.Config) { c.Models[0].Ratios = []imagegen.Ratio{} })
	s.is.Equal(s.signedIn("alice").get("playground").StatusCode, http.StatusOK)
}

// Nothing is made for a browser that hangs up before the charge.
func TestCreateForNobody(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := v.request(http.MethodPost, "playground", strings.NewReader("prompt=a+fox"), "Content-Type",
		"application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin").WithContext(ctx)
	s.is.True(aborted(func() { s.ServeHTTP(nobody{}, r) }))
	s.is.Equal(len(v.made()), 0)
	s.is.Equal(v.balance(), imagegen.Credits(10))
}

// Options that the model offers can be chosen. Others, and contradicting ones, are faults of their fields.
func TestCreateWithOptions(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	a := v.post("playground", small("prompt", "a fox", "output_format", "jpeg", "background", "opaque", "seed",
		" 7 ")...)
	s.is.Equal(a.StatusCode, http.StatusSeeOther)
	g := v.reaches(v.made()[0].ID, imagegen.StatusSucceeded)
	s.is.Equal(cmp.Diff(imagegen.Options{Format: imagegen.FormatJPEG, Background: imagegen.BackgroundOpaque,
		Seed: new(int64(7))}, g.Options), "")
	s.is.Equal(g.Images[0].MediaType, "image/jpeg")
	before := v.balance()
	for name, value := range map[string]string{"output_format": "gif", "background": "white", "seed": "4294967296"} {
		refused := v.post("playground", small("prompt", "a fox", name, value)...)
		s.is.Equal(refused.StatusCode, http.StatusUnprocessableEntity)
		s.is.True(refused.has(`id="f-` + name + `-fault"`))
	}
	both := v.post("playground", small("prompt", "a fox", "output_format", "jpeg", "background", "transparent")...)
	s.is.Equal(both.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(both.has("A JPEG has no transparency"))
	s.is.Equal(v.balance(), before)
}

// Five shapes are visible at first. The others are unfolded if one of them is chosen.
func TestFewShapesFirst(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	before, after, cut := strings.Cut(v.get("playground").body,
		`<details class="further">`)
	s.is.True(cut)
	s.is.Equal(strings.Count(before, `name="ratio"`), 5)
	s.is.Equal(strings.Count(after, `name="ratio"`), len(imagegen.Ratios())+1-5) // with an exact size
	for shape, open := range map[string]bool{"16:9": false, "3:2": true, "own": true} {
		a := v.post("playground", "show", "cost", "ratio", shape, "width", "64", "height", "64")
		s.is.Equal(a.has(`<details class="further" open>`), open)
	}
}

// Nothing is charged that the page has not shown: files that cost more, another choice or a form with a fault bring the
// page again, with the price.
func TestPriceIsShownFirst(t *testing.T) {
	s := open(t)
	v := s.paying("alice")
	m := imagegentest.Priced()
	s.is.NoErr(s.SetModels(t.Context(), []engine.Model{m}))
	form := func(a answer, pairs ...string) []string {
		return append(pairs, small("token", a.entered()["token"], "max_credits", a.shown())...)
	}
	made := func(a answer) bool { return a.StatusCode == http.StatusSeeOther }
	page := v.get("playground")
	s.is.Equal(page.shown(), "2")
	s.is.True(made(v.post("playground", form(page)...)))

	files := []file{{"a.png", picture(20, 20)}}
	dearer := v.postFiles("playground", files, form(v.get("playground"))...) // each reference adds 1
	s.is.Equal(dearer.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(dearer.has("which is more than the page has shown."))
	s.is.True(strings.Contains(dearer.cost(), "3 credits"))
	s.is.True(made(v.postFiles("playground", files, form(dearer)...)))

	s.is.True(strings.Contains(v.postFiles("playground", files, small("show", "cost")...).cost(), "3 credits"))

	more := v.post("playground", form(v.get("playground"), "n", "2")...)
	s.is.Equal(more.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(made(v.post("playground", form(more, "n", "2")...)))

	faulty := v.post("playground", "ratio", "own", "show", "cost") // which shows no price
	s.is.Equal(faulty.shown(), "0")
	s.is.Equal(v.post("playground", form(faulty)...).StatusCode, http.StatusUnprocessableEntity)

	_, vary, _ := strings.Cut(v.get("playground").body, `class="vary"`)
	again := answer{body: vary}
	s.is.Equal(again.shown(), "4")
	s.is.True(strings.Contains(vary, `Variation · <span><span class="amount">4</span> credits</span></button>`))
	sent := []string{"again", string(v.made()[0].ID), "token", "variation", "max_credits", again.shown()}
	m.Credits, m.Prices = map[imagegen.Tier]imagegen.Credits{"1K": 9}, nil
	s.is.NoErr(s.SetModels(t.Context(), []engine.Model{m}))
	dearer = v.post("playground", sent...)
	s.is.Equal(dearer.StatusCode, http.StatusUnprocessableEntity)
	s.is.True(dearer.has("which is more than the page has shown."))
	m.Credits["1K"] = 2
	s.is.NoErr(s.SetModels(t.Context(), []engine.Model{m}))
	s.is.True(made(v.post("playground", sent...)))
	balance, err := s.As(v.user.ID).Balance(t.Context())
	s.is.NoErr(err)
	s.is.Equal(balance.Credits, imagegen.Credits(1000-2-3-4-4))
}

// Somebody whose requests are refused too often keeps what they typed, and reads when to go on.
func TestTooManyRefusals(t *testing.T) {
	s := openOver(t, func(c *engine.Config) { c.Limits.MaxRefusals = 1 })
	v := s.signedIn("alice")
	v.grant(10)
	v.finish("[fake:refuse] a hare", 1, imagegen.StatusFailed)
	a := v.post("playground", "prompt", "a fox", "model", "fake-1", "n", "1", "quality", "auto", "ratio", "auto",
		"tier", "1K", "token", "console-1", "max_credits", "1")
	s.is.Equal(a.StatusCode, http.StatusTooManyRequests)
	s.is.True(a.has(`role="alert"`, ">a fox</textarea>"))
	s.is.True(a.Header.Get("Retry-After") != "")
}
