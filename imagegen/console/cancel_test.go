package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
)

// A generation that waits has a button to cancel it, which works without scripts. One that runs has none, and nobody
// can cancel another user's.
func TestCancel(t *testing.T) {
	g := newGate()
	s := openOver(t, g.oneByOne)
	alice, bob := s.signedIn("alice"), s.signedIn("bob")
	alice.grant(10)
	first := alice.begin("a fox", 1)
	alice.reaches(first.ID, imagegen.StatusProcessing)
	second := alice.begin("a hare", 2)
	page := "generations/" + string(second.ID)
	button := `action="/console/` + page + `/cancel"`
	s.is.True(alice.get(page).has(button, ">Cancel</button>", "All credits come back."))
	s.is.True(!alice.get("generations/" + string(first.ID)).has("/cancel"))
	s.is.Equal(bob.post(page+"/cancel").StatusCode, http.StatusNotFound)
	s.is.Equal(alice.balance(), imagegen.Credits(7))

	for range 2 { // a second press changes nothing
		a := alice.follow(alice.post(page + "/cancel"))
		s.is.True(a.has("<title>Cancelled: a hare", "Refunded 2 credits", "You cancelled it before it began."))
		s.is.True(!a.has(button))
		s.is.Equal(alice.balance(), imagegen.Credits(9))
	}
	late := alice.follow(alice.post("generations/" + string(first.ID) + "/cancel"))
	s.is.True(late.has("In the making"))
	close(g.opened)
	alice.reaches(first.ID, imagegen.StatusSucceeded)
}

// The page shows each image as soon as it exists, and keeps places for the others.
func TestImagesAppearOneByOne(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	id := v.begin("[fake:each=3s] a fox", 2).ID
	page := v.get("generations/" + string(id))
	a := v.showsSoon("generations/"+string(id), func(a answer) bool { return a.has("1 of 2 are there") })
	s.is.Equal(strings.Count(a.body, "<img "), 1)
	s.is.Equal(strings.Count(a.body, `<figure class="place`), 1)
	s.is.True(a.has("1 image is there", "Image 1 of 2") && !a.has("went back"))
	if polls := page.polls(); polls != "" { // it was not there yet
		moved := v.get(polls)
		s.is.Equal(moved.StatusCode, http.StatusOK)
		s.is.True(moved.has("1 of 2 images are there."))
	}
	image := v.reaches(id, imagegen.StatusProcessing).Images[0].ID
	s.is.Equal(v.get("images/"+string(image)).StatusCode, http.StatusOK)
	s.is.Equal(v.reaches(id, imagegen.StatusSucceeded).Images[0].ID, image)
}
