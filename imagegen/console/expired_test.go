package console_test

import (
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// hiddenFields are the hidden fields of a page, as alternating names and values.
func (a answer) hiddenFields() (pairs []string) {
	for _, m := range regexp.MustCompile(`(?s)<input type="hidden" name="([^"]*)" value="([^"]*)">`).
		FindAllStringSubmatch(a.body, -1) {
		pairs = append(pairs, m[1], html.UnescapeString(m[2]))
	}
	return pairs
}

// The page that holds what was typed knows every field of the form.
func TestFieldsThatAreKept(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(1)
	g := v.finish("a fox", 1, imagegen.StatusSucceeded)
	page := v.get("playground?reference=" + string(g.Images[0].ID))
	var names, kept []string
	for _, m := range regexp.MustCompile(`<(?:input|textarea|select)[^>]* name="(\w+)"`).
		FindAllStringSubmatch(page.body, -1) {
		if !slices.Contains(names, m[1]) && !strings.Contains(m[0], `type="file"`) {
			names = append(names, m[1])
		}
	}
	s.is.True(len(names) > 10)
	var typed []string
	for _, name := range names {
		typed = append(typed, name, "x")
	}
	s.is.NoErr(s.DB.EndSignIns(t.Context(), v.user.ID))
	for i, field := range v.postFiles("playground", nil, typed...).hiddenFields() {
		if i%2 == 0 {
			kept = append(kept, field)
		}
	}
	slices.Sort(names)
	s.is.Equal(cmp.Diff(names, kept), "")
}

// A form that arrives after the sign-in has ended loses nothing that was typed, and makes nothing.
func TestTypedWhileSignedOut(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	long := strings.Repeat("狐 \"<b>\n", 1000)
	typed := []string{"prompt", long, "n", "2", "quality", "high", "token", "t", "reference", "img_1"}
	s.is.NoErr(s.DB.EndSignIns(t.Context(), v.user.ID))
	for name, a := range map[string]answer{
		"urlencoded": v.post("playground", typed...),
		"multipart":  v.postFiles("playground", []file{{"a.png", picture(20, 20)}}, typed...),
		// the files are behind the text
		"too large": v.postFiles("playground", []file{{"a.png", make([]byte, 3<<20)}}, typed...),
	} {
		s.is.Equal(a.StatusCode, http.StatusForbidden)
		s.is.True(a.has("You were signed out meanwhile.", `target="_blank"`))
		held := map[string]string{}
		for i, pairs := 0, a.hiddenFields(); i < len(pairs); i += 2 {
			held[pairs[i]] = pairs[i+1]
		}
		if diff := cmp.Diff(map[string]string{"prompt": long, "n": "2", "quality": "high", "token": "t",
			"reference": "img_1"}, held); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	s.is.Equal(len(v.made()), 0)
	a := v.post("playground", append(typed, "show", "cost")...)
	again := s.as(v.user)
	page := again.post("playground", append(a.hiddenFields(), "show", "cost")...)
	s.is.Equal(page.StatusCode, http.StatusOK)
	s.is.Equal([]string{page.entered()["n"], page.entered()["quality"]}, []string{"2", "high"})
	s.is.Equal(page.entered()["prompt"], strings.TrimSpace(long))

	// Of a form of somebody's own making it holds what the playground has.
	a = v.postFiles("playground", nil, "prompt", "a fox", "more", "x")
	s.is.Equal(cmp.Diff([]string{"prompt", "a fox"}, a.hiddenFields()), "")
	script := v.postScripted("playground", typed...) // which keeps it by itself
	s.is.True(strings.HasPrefix(script.Header.Get("HX-Redirect"), "/console/signin"))
	s.is.True(strings.HasPrefix(v.post("playground").redirected(), "/console/signin")) // there is nothing to keep
}
