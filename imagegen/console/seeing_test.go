package console_test

import (
	"archive/zip"
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"

	"github.com/google/go-cmp/cmp"
)

// All images of a generation come in one file, as they are.
func TestArchive(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	g := v.finish("a fox", 3, imagegen.StatusSucceeded)
	a := v.get("generations/" + string(g.ID) + "/images.zip")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.Equal(a.Header.Get("Content-Type"), "application/zip")
	s.is.Equal(a.Header.Get("Content-Disposition"), `attachment; filename="`+string(g.ID)+`.zip"`)
	s.is.Equal(a.Header.Get("Cache-Control"), "no-store")
	z, err := zip.NewReader(strings.NewReader(a.body), int64(len(a.body)))
	s.is.NoErr(err)
	s.is.Equal(len(z.File), 3)
	for n, f := range z.File {
		s.is.Equal(f.Method, zip.Store)
		s.is.True(strings.HasPrefix(f.Name, string(g.ID)+"-") && strings.HasSuffix(f.Name, ".png"))
		content, err := f.Open()
		s.is.NoErr(err)
		got, err := io.ReadAll(content)
		s.is.NoErr(err)
		s.is.Equal(v.get("images/"+string(g.Images[n].ID)).body, string(got))
	}
	page := v.get("generations/" + string(g.ID))
	s.is.True(page.has(`/images.zip" download>Download all 3</a>`))

	failed := v.finish("[fake:fail] a hare", 1, imagegen.StatusFailed)
	s.is.Equal(v.get("generations/"+string(failed.ID)+"/images.zip").StatusCode, http.StatusNotFound)
	s.is.True(!v.get("generations/"+string(failed.ID)).has("images.zip", "/favourite"))
}

// Two images stand beside each other, with what differs marked; until there are two, one is chosen.
func TestCompare(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	fox, owl := v.finish("a fox", 2, imagegen.StatusSucceeded), v.finish("an owl", 1, imagegen.StatusSucceeded)
	a, b := string(fox.Images[0].ID), string(owl.Images[0].ID)
	choose := v.get("compare?a=" + a)
	s.is.Equal(choose.StatusCode, http.StatusOK)
	s.is.True(choose.has("With which image?", "?a="+a+"&amp;b="+b, "?a="+a+"&amp;b="+string(fox.Images[1].ID)))
	s.is.True(!choose.has("b=" + a))
	both := v.get("compare?a=" + a + "&b=" + b)
	s.is.Equal(strings.Count(both.body, "<figure>"), 2)
	s.is.True(both.has(`<th scope="row">Prompt</th><td data-label="A"><span>a fox</span></td><td data-label="B"><span>an owl</span>`, "<dt>Model</dt><dd>fake-1</dd>",
		`href="/console/compare?a=`+b+`&amp;b=`+a+`">Swap`))
	alike := v.get("compare?a=" + a + "&b=" + string(fox.Images[1].ID))
	s.is.True(alike.has(`<div class="whole"><dt>Prompt</dt><dd>a fox</dd>`) && !alike.has("What differs"))
	for _, path := range []string{"compare", "compare?a=", "compare?a=x", "compare?a=" + a + "&b=x", "compare?b=" + b, "compare?a=" + a[:len(a)-3] + "777"} {
		s.is.Equal(v.get(path).StatusCode, http.StatusNotFound)
	}
}

// What is another's is no more to be seen by these ways than by others.
func TestSeeingOthers(t *testing.T) {
	s := open(t)
	alice, bob := s.signedIn("alice"), s.signedIn("bob")
	alice.grant(10)
	bob.grant(10)
	hers, his := alice.finish("a fox", 1, imagegen.StatusSucceeded), bob.finish("a hare", 1, imagegen.StatusSucceeded)
	id, image, own := string(hers.ID), string(hers.Images[0].ID), string(his.Images[0].ID)
	for _, path := range []string{"generations/" + id + "/images.zip", "compare?a=" + image, "compare?a=" + own + "&b=" + image, "compare?a=" + image + "&b=" + own} {
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

// A favourite is made and ended by its button, and goes with the generation.
func TestFavourite(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	g := v.finish("a fox", 1, imagegen.StatusSucceeded)
	page := "generations/" + string(g.ID)
	s.is.True(v.get(page).has(`name="favourite" value="yes" aria-pressed="false"`))
	for range 2 { // a second press changes nothing
		s.is.True(v.follow(v.post(page+"/favourite", "favourite", "yes")).has(`name="favourite" value="" aria-pressed="true"`))
	}
	s.is.True(strings.Contains(v.get("generations").tile(g.ID), ">Favourite</span>"))
	s.is.Equal(v.get("generations?favourites=yes").tiles(), []string{string(g.ID)})
	block := v.do(http.MethodPost, page+"/favourite", strings.NewReader("favourite="), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "HX-Request", "true")
	s.is.True(block.has(`<form id="favourite"`, `aria-pressed="false"`) && !block.has("<html"))
	s.is.True(v.get("generations?favourites=yes").has("You have no favourites yet"))

	v.post(page+"/favourite", "favourite", "yes")
	v.post(page + "/erase")
	s.is.Equal(len(v.get("generations?favourites=yes").tiles()), 0)
	s.is.Equal(v.post(page+"/favourite", "favourite", "yes").StatusCode, http.StatusNotFound)
	failed := v.finish("[fake:fail] a hare", 1, imagegen.StatusFailed)
	s.is.Equal(v.post("generations/"+string(failed.ID)+"/favourite", "favourite", "yes").StatusCode, http.StatusBadRequest)
}

// oneAtATime is an image store that knows how many images were open at once.
type oneAtATime struct {
	imagegen.ImageStore
	open, most atomic.Int32
}

func (o *oneAtATime) OpenImage(ctx context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	f, err := o.ImageStore.OpenImage(ctx, k)
	if err != nil {
		return nil, err
	}
	o.most.Store(max(o.most.Load(), o.open.Add(1)))
	return closing{f, func() { o.open.Add(-1) }}, nil
}

type closing struct {
	io.ReadSeekCloser
	closed func()
}

func (c closing) Close() error {
	c.closed()
	return c.ReadSeekCloser.Close()
}

// However many images an archive has, one is read at a time; where one cannot be read, nobody takes what came for the whole.
func TestArchiveIsStreamed(t *testing.T) {
	images := new(oneAtATime)
	s := openOver(t, func(c *engine.Config) {
		images.ImageStore = c.Store.(imagegen.ImageStore)
		c.Images = images
	})
	v := s.signedIn("alice")
	v.grant(10)
	g := v.finish("a fox", 4, imagegen.StatusSucceeded)
	path := "generations/" + string(g.ID) + "/images.zip"
	images.most.Store(0)
	s.is.Equal(v.get(path).StatusCode, http.StatusOK)
	s.is.Equal(images.most.Load(), int32(1))
	s.is.Equal(images.open.Load(), int32(0))

	r, err := s.Engine.Record(t.Context(), g.ID)
	s.is.NoErr(err)
	s.is.NoErr(s.DB.RemoveImages(t.Context(), g.ID, r.Attempt, g.Images[0].ID))
	defer func() { s.is.Equal(recover(), http.ErrAbortHandler) }()
	v.get(path)
	t.Error("the answer was not cut off")
}
