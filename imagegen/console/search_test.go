package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// The gallery can be searched by words, model, time, status and favourites, and by all of them together.
func TestSearch(t *testing.T) {
	s := openOver(t, func(c *engine.Config) {
		second := c.Models[0]
		second.ID = "fake-2"
		c.Models = append(c.Models, second)
	})
	v := s.signedIn("alice")
	v.grant(100)
	day := func(n int) string { return s.clock.Now().UTC().AddDate(0, 0, n).Format(time.DateOnly) }
	named := map[string]string{}
	for _, g := range []struct {
		name, model, prompt string
		status              imagegen.Status
	}{
		{"fox", "fake-1", "A red FOX in snow", imagegen.StatusSucceeded},
		{"owl", "fake-2", "An owl in snow", imagegen.StatusSucceeded},
		{"hare", "fake-1", "[fake:fail] A hare in Füssen", imagegen.StatusFailed},
		{"vixen", "fake-2", "a fox, red as rust", imagegen.StatusSucceeded},
	} {
		r, err := v.As(v.user.ID).Generate(t.Context(), imagegen.GenerateRequest{Model: g.model, Prompt: g.prompt,
			Async: true})
		s.is.NoErr(err)
		v.reaches(r.ID, g.status)
		named[string(r.ID)] = g.name
		s.clock.Advance(24 * time.Hour)
		v = s.as(v.user)
	}
	for id, name := range named {
		if name == "fox" {
			s.is.Equal(v.post("generations/"+id+"/favourite", "favourite", "yes").redirected(), "/console/generations/"+
				id)
		}
	}
	for query, want := range map[string]string{
		"":                                    "vixen hare owl fox",
		"q=red":                               "vixen fox",
		"q=+fOx++RED+":                        "vixen fox",
		"q=füSS":                              "hare",
		"q=fox&model=fake-2":                  "vixen",
		"model=fake-1":                        "hare fox",
		"model=gone":                          "",
		"status=failed":                       "hare",
		"q=snow&status=failed":                "",
		"favourites=yes":                      "fox",
		"favourites=yes&q=owl":                "",
		"favourites=yes&status=failed":        "",
		"from=" + day(-2):                     "vixen hare",
		"to=" + day(-3):                       "owl fox",
		"from=" + day(-3) + "&to=" + day(-2):  "hare owl",
		"from=" + day(1):                      "",
		"to=0001-01-02":                       "",
		"q=fox&from=" + day(-1):               "vixen",
		"q=a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+z": "", // words after the 16th are ignored
	} {
		a := v.get("generations?" + strings.ReplaceAll(url.PathEscape(query), "%20", "+"))
		s.is.Equal(a.StatusCode, http.StatusOK)
		var got []string
		for _, id := range a.tiles() {
			got = append(got, named[id])
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
	a := v.get("generations?q=fox&model=fake-2&favourites=yes")
	s.is.True(a.has(`<option value="fake-2" selected>`, `name="favourites" value="yes"`,
		`href="/console/generations?model=fake-2&amp;q=fox"`, "Nothing fits what you search for."))
	s.is.True(v.get("generations?from=yesterday").has("A day is written such as 2026-01-31."))
}

// A search stops after a limit, says how far it got, and continues from there.
func TestSearchFurtherBack(t *testing.T) {
	s := openOver(t, func(c *engine.Config) { c.Limits.MaxRefusals = -1 })
	v := s.signedIn("alice")
	v.grant(1000)
	wanted := v.begin("[fake:fail] needle", 1)
	straw := strings.Repeat("straw ", 5000)
	for range 60 {
		v.begin("[fake:fail] "+straw, 1)
	}
	a := v.get("generations?q=needle")
	s.is.Equal(len(a.tiles()), 1) // one page of the store is looked at in any case
	for range 100 {
		v.begin("[fake:fail] "+straw, 1)
	}
	for range 2 {
		a = v.get("generations?q=needle")
		s.is.Equal(len(a.tiles()), 0)
		s.is.True(a.has("Nothing found so far.", "Searched back to", "Search further back"))
		s.is.True(!a.has("Nothing fits"))
	}
	pages := 0
	for ; len(a.tiles()) == 0; pages++ {
		a = v.get(a.next())
	}
	s.is.Equal(a.tiles(), []string{string(wanted.ID)})
	s.is.True(!a.has("Search further back"))
	s.is.Equal(pages, 1)
}

// A page of results links to the next one only if it exists.
func TestPagesOfASearch(t *testing.T) {
	s := openOver(t, func(c *engine.Config) { c.Limits.MaxRefusals = -1 })
	v := s.signedIn("alice")
	v.grant(1000)
	for n := range 96 { // every other one fits
		v.begin(fmt.Sprintf("[fake:fail] %s %d", []string{"fox", "hare"}[n%2], n), 1)
	}
	a, seen := v.get("generations?q=fox"), map[string]bool{}
	for page := range 2 {
		s.is.Equal(len(a.tiles()), 24)
		for _, id := range a.tiles() {
			seen[id] = true
		}
		s.is.Equal(a.next() != "", page == 0)
		if page == 0 {
			a = v.get(a.next())
		}
	}
	s.is.Equal(len(seen), 48)
}
