package console_test

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// sample is the code in a language that a page or a part of one shows.
func (a answer) sample(language string) string {
	_, after, _ := strings.Cut(a.body, `<code id="sample-`+language+`"`)
	_, after, _ = strings.Cut(after, ">")
	code, _, _ := strings.Cut(after, "</code>")
	return html.UnescapeString(code)
}

// The preview shows the cost of the form, or a fault, and the request in code. It charges nothing.
func TestPreview(t *testing.T) {
	spool := new(imagegentest.CountedSpool)
	s := openOver(t, spool.Watch)
	v := s.signedIn("alice")
	v.grant(3)
	for name, c := range map[string]struct {
		pairs []string
		says  []string
	}{
		"nothing yet": {nil, []string{"<strong>1</strong> credit<", "Balance 3, afterwards 2.",
			`"prompt": "A red fox in fresh snow, early morning light"`}},
		"settings": {[]string{"prompt", "a hare", "ratio", "1:1", "tier", "1K", "n", "3"},
			[]string{"<strong>3</strong> credits<", "1K<span class=\"spare\"> · 1024 × 1024<",
				"afterwards 0.", `"prompt": "a hare"`, `"n": 3`, `"size": "1024x1024"`}},
		"own size": {[]string{"ratio", "own", "width", "2000", "height", "2000"},
			[]string{"<strong>2</strong> credits<", "2K<span class=\"spare\"> · 2000 × 2000<"}},
		"half a size": {[]string{"ratio", "own", "width", "2000"},
			[]string{`<p class="problem">Give both edges in whole pixels, from 16 to 8192.</p>`}},
		"too few": {[]string{"tier", "4K"}, []string{"This costs 4 credits, and there are 3 credits."}},
		"long prompt": {[]string{"prompt", strings.Repeat("x", 32_001)},
			[]string{`<p class="problem">The prompt has 32001 characters`}},
		"a mask": {[]string{"reference_name", "fox.png", "mask_name", "sky.png"}, []string{`-F 'mask=@"sky.png"'`,
			`Mask: file("sky.png"),`}},
		"references": {[]string{"reference_name", "fox.png", "reference_name", "it's.jpg"},
			[]string{`-F 'reference_image=@"fox.png"'`, `-F 'reference_image=@"it'\''s.jpg"'`, `file("it's.jpg"),`}},
		"files anyway": {[]string{"reference_image", "text"}, []string{"<strong>1</strong> credit<"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := v.postFiles("playground/preview", []file{{"fox.png", picture(20, 20)}}, c.pairs...)
			if a.StatusCode != http.StatusOK || strings.Contains(a.body, "<html") {
				t.Errorf("%s", a.Status)
			}
			text := html.UnescapeString(a.body)
			for _, says := range c.says {
				if !strings.Contains(text, says) {
					t.Errorf("%s is not in\n%.2000s", says, text)
				}
			}
			if spool.Held() != 0 {
				t.Errorf("%d files are left", spool.Held())
			}
		})
	}
	names := make([]string, 34)
	for i := range names {
		names[i] = []string{"reference_name", "x.png"}[i%2]
	}
	s.is.True(v.post("playground/preview", names...).has("17 images were chosen; fake-1 takes 16 at most."))
	s.is.True(!v.post("playground/preview", "ratio", "own", "width", "2000").has("curl")) // the code of before stays
	s.is.Equal(v.balance(), imagegen.Credits(3))
	s.is.Equal(len(v.made()), 0)
}

// The code names the service as the browser reaches it.
func TestOriginOfSamples(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.is.True(strings.HasPrefix(v.get("playground").sample("curl"),
		"curl 'http://console.test/api/v1/images/generations'"))
	a := v.do(http.MethodPost, "playground/preview", nil, "Content-Type", "application/x-www-form-urlencoded", "Origin",
		"https://images.example.com", "Sec-Fetch-Site", "same-origin")
	for _, language := range []string{"curl", "go", "javascript"} {
		s.is.True(strings.Contains(a.sample(language), "https://images.example.com"))
	}
}
