package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// A button marks a favourite and removes the mark. The mark ends with the generation.
func TestFavourite(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	g := v.finish("a fox", 1, imagegen.StatusSucceeded)
	page := "generations/" + string(g.ID)
	s.is.True(v.get(page).has(`name="favourite" value="yes" aria-pressed="false"`))
	for range 2 { // a second press changes nothing
		s.is.True(v.follow(v.post(page+"/favourite", "favourite", "yes")).
			has(`name="favourite" value="" aria-pressed="true"`))
	}
	s.is.True(strings.Contains(v.get("generations").tile(g.ID), ">Favourite</span>"))
	s.is.Equal(v.get("generations?favourites=yes").tiles(), []string{string(g.ID)})
	block := v.do(http.MethodPost, page+"/favourite", strings.NewReader("favourite="), "Content-Type",
		"application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "HX-Request", "true")
	s.is.True(block.has(`<form id="favourite"`, `aria-pressed="false"`) && !block.has("<html"))
	s.is.True(v.get("generations?favourites=yes").has("You have no favourites yet"))

	v.post(page+"/favourite", "favourite", "yes")
	v.post(page + "/erase")
	s.is.Equal(len(v.get("generations?favourites=yes").tiles()), 0)
	s.is.Equal(v.post(page+"/favourite", "favourite", "yes").StatusCode, http.StatusNotFound)
	failed := v.finish("[fake:fail] a hare", 1, imagegen.StatusFailed)
	s.is.Equal(v.post("generations/"+string(failed.ID)+"/favourite", "favourite", "yes").StatusCode,
		http.StatusBadRequest)
}

// These pages show nothing of another user's generations.
func TestPagesOfImagesOfOthers(t *testing.T) {
	s := open(t)
	alice, bob := s.signedIn("alice"), s.signedIn("bob")
	alice.grant(10)
	bob.grant(10)
	hers, his := alice.finish("a fox", 1, imagegen.StatusSucceeded), bob.finish("a hare", 1, imagegen.StatusSucceeded)
	id, image, own := string(hers.ID), string(hers.Images[0].ID), string(his.Images[0].ID)
	for _, path := range []string{"generations/" + id + "/images.zip", "compare?a=" + image, "compare?a=" + own +
		"&b=" + image, "compare?a=" + image + "&b=" + own} {
		unknown := strings.NewReplacer(id, id[:len(id)-3]+"777", image, image[:len(image)-3]+"777").Replace(path)
		theirs, none := bob.get(path), bob.get(unknown)
		s.is.Equal(theirs.StatusCode, http.StatusNotFound)
		s.is.Equal(theirs.body, none.body)
		s.is.Equal(cmp.Diff(theirs.Header, none.Header), "")
		s.is.True(strings.HasPrefix(s.visitor().get(path).redirected(), "/console/signin"))
	}
	s.is.Equal(bob.post("generations/"+id+"/favourite", "favourite", "yes").StatusCode, http.StatusNotFound)
	s.is.True(!alice.get("generations/" + id).has(`aria-pressed="true"`))
	s.is.True(!bob.get("compare?a=" + own).has(image))
}
