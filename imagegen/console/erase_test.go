package console_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// An erasure asks first, then removes prompt and images for everybody; the ledger keeps the cost.
func TestErase(t *testing.T) {
	s := openOver(t, func(c *engine.Config) { c.Thumbnails = true })
	v := s.signedIn("alice")
	v.grant(10)
	g := v.finish("a fox", 2, imagegen.StatusSucceeded)
	page, image := "generations/"+string(g.ID), string(g.Images[1].ID)
	s.is.Equal(v.get("thumbnails/"+image).StatusCode, http.StatusOK)

	ask := v.get(page + "/erase")
	s.is.True(ask.has("a fox", "its 2 images", `method="post" action="/console/`+page+`/erase"`, ">Keep it</a>"))
	s.is.Equal(len(v.made()), 1) // a question changes nothing

	done := v.post(page + "/erase")
	s.is.Equal(done.redirected(), "/console/generations")
	s.is.True(v.follow(done).has("The generation is erased.", "No images yet"))
	for _, path := range []string{page, page + "/live", page + "/erase", "images/" + image, "thumbnails/" + image,
		"playground?again=" + string(g.ID)} {
		s.is.Equal(v.get(path).StatusCode, http.StatusNotFound)
	}
	s.is.Equal(v.post(page+"/erase").StatusCode, http.StatusNotFound)
	_, err := s.Engine.OpenImage(t.Context(), g.Images[1].ID)
	s.is.True(errors.Is(err, imagegen.ErrNotFound))
	s.is.Equal(v.balance(), imagegen.Credits(8))
	s.is.True(v.get("credits").has("Spent"))
}

// A generation under way cannot be erased, and the page says so.
func TestEraseWhatGoesOn(t *testing.T) {
	g := newGate()
	s := openOver(t, g.oneByOne)
	v := s.signedIn("alice")
	v.grant(10)
	id := v.begin("a fox", 1).ID
	for _, a := range []answer{v.get("generations/" + string(id) + "/erase"), v.post("generations/" + string(id) +
		"/erase")} {
		s.is.Equal(a.StatusCode, http.StatusBadRequest)
		s.is.True(a.has("This generation has not ended yet; it can be erased when it has."))
	}
	close(g.opened)
	v.reaches(id, imagegen.StatusSucceeded)
	s.is.Equal(v.post("generations/"+string(id)+"/erase").redirected(), "/console/generations")
}

// A failed generation is shown even without its prompt, and every link to it has a text.
func TestForgottenPrompt(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	g := v.finish("a secret [fake:fail]", 1, imagegen.StatusFailed)
	r, err := s.Record(t.Context(), g.ID)
	s.is.NoErr(err)
	_, err = s.DB.Update(t.Context(), r.Fence(), imagegen.ForgetChange{})
	s.is.NoErr(err)
	for _, path := range []string{"generations", "generations/" + string(g.ID), "generations/" + string(g.ID) +
		"/erase", "credits"} {
		a := v.get(path)
		s.is.Equal(a.StatusCode, http.StatusOK)
		s.is.True(a.has(">(prompt no longer kept)<") && !a.has("a secret"))
	}
	s.is.Equal(v.get("playground?again="+string(g.ID)).StatusCode, http.StatusOK)
}
