package console_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

var tileID = regexp.MustCompile(`<div class="tile" id="tile-(gen_\w+)"`)

// tiles are the generations that a gallery shows, in its order.
func (a answer) tiles() (ids []string) {
	for _, m := range tileID.FindAllStringSubmatch(a.body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// tile is what a gallery shows of one generation.
func (a answer) tile(id imagegen.GenerationID) string {
	_, after, _ := strings.Cut(a.body, `id="tile-`+string(id)+`"`)
	inside, _, _ := strings.Cut(after, "</div>")
	return inside
}

// An empty gallery says what to do next.
func TestEmptyGallery(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	a := v.get("generations")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("No images yet", `href="/console/playground"`, `href="/console/keys"`))
	s.is.True(!a.has("hx-get")) // there is nothing to ask for
	for status, says := range map[imagegen.Status]string{imagegen.StatusQueued: "Nothing waits for its turn.",
		imagegen.StatusProcessing: "Nothing is in the making.", imagegen.StatusFailed: "Nothing has failed.",
		imagegen.StatusSucceeded: "There is nothing on this page."} {
		a := v.get("generations?status=" + string(status))
		s.is.True(a.has(says, ">Show all</a>"))
	}
}

func TestGallery(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	several := v.finish("a fox", 2, imagegen.StatusSucceeded)
	failed := v.finish("[fake:fail] a hare", 1, imagegen.StatusFailed)
	one := v.finish("an owl", 1, imagegen.StatusSucceeded)
	partial := v.finish("[fake:images=1] a heron", 3, imagegen.StatusSucceeded)

	a := v.get("generations")
	s.is.Equal(a.tiles(), []string{string(partial.ID), string(one.ID), string(failed.ID), string(several.ID)})
	s.is.True(a.has(`<li><a href="/console/generations" aria-current="true">All</a></li>`))
	s.is.True(strings.Contains(a.tile(several.ID), "/console/thumbnails/"+string(several.Images[0].ID)))
	s.is.True(strings.Contains(a.tile(several.ID), `<span class="unseen">Images: </span>2</span>`))
	s.is.True(!strings.Contains(a.tile(one.ID), "Images: "))
	s.is.True(!strings.Contains(a.tile(one.ID), "badge"))
	s.is.True(strings.Contains(a.tile(partial.ID),
		`>1 of 3 came<span class="unseen">, the others were refunded</span></span>`))
	s.is.True(strings.Contains(a.tile(failed.ID), `<span class="badge failed">failed</span>`))
	s.is.True(!strings.Contains(a.tile(failed.ID), "<img"))
	s.is.True(!a.has("hx-get")) // all have ended
	s.is.True(!a.has(`class="pager"`))

	s.is.Equal(v.get("generations?status=failed").tiles(), []string{string(failed.ID)})
	s.is.Equal(v.get("generations?status=succeeded").tiles(), []string{string(partial.ID), string(one.ID),
		string(several.ID)})
	s.is.Equal(len(v.get("generations?status=nonsense").tiles()), 4)
	s.is.Equal(v.get("generations?after=nonsense").StatusCode, http.StatusBadRequest)
}

// Page by page, each generation is shown once.
func TestPagesOfTheGallery(t *testing.T) {
	s := openOver(t, func(c *engine.Config) { c.Limits.MaxRefusals = -1 })
	v := s.signedIn("alice")
	v.grant(100)
	var want []string
	for n := range 49 { // two pages of 24, and one
		want = append([]string{string(v.begin(fmt.Sprintf("[fake:fail] fox %d", n), 1).ID)}, want...)
	}
	for _, id := range want {
		v.reaches(imagegen.GenerationID(id), imagegen.StatusFailed)
	}
	for _, start := range []string{"generations", "generations?status=failed"} {
		var got []string
		pages, to := 0, start
		for to != "" {
			s.is.Equal(strings.Contains(to, "status=failed"), strings.Contains(start, "status"))
			a := v.get(to)
			s.is.Equal(a.has("Newest"), pages > 0)
			got, pages, to = append(got, a.tiles()...), pages+1, a.next()
		}
		s.is.Equal(pages, 3)
		s.is.Equal(got, want)
	}
	a := v.get("generations?after=" + want[48])
	s.is.True(a.has("There is nothing on this page.", "Show all"))
}

// A gallery shows only the generations of the user who opens it.
func TestGalleryOfOthers(t *testing.T) {
	s := open(t)
	alice, bob := s.signedIn("alice"), s.signedIn("bob")
	alice.grant(10)
	bob.grant(10)
	former, mine := alice.finish("a fox", 1, imagegen.StatusSucceeded),
		bob.finish("a hare", 1, imagegen.StatusSucceeded)
	later := alice.finish("an owl", 1, imagegen.StatusSucceeded)
	for _, path := range []string{"generations", "generations?status=succeeded", "generations?after=" +
		string(later.ID)} {
		s.is.Equal(bob.get(path).tiles(), []string{string(mine.ID)})
	}
	s.is.Equal(len(bob.get("generations?after="+string(former.ID)).tiles()), 0)
}
