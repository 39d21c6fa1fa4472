package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// linked is a storage that other addresses lead to.
type linked struct{ imagegen.ImageStore }

var _ imagegen.ImageLinker = linked{}

func (linked) Link(_ context.Context, k imagegen.ImageKey, mediaType string, age time.Duration) (string, error) {
	return "https://objects.example.com/" + string(k.Image) + "?type=" + mediaType + "&for=" + age.String(), nil
}

// unlinked wraps a storage to which no other address leads.
type unlinked struct{ imagegen.ImageStore }

var _ imagegen.ImageLinker = unlinked{}

func (unlinked) Link(context.Context, imagegen.ImageKey, string, time.Duration) (string, error) {
	return "", errors.ErrUnsupported
}

// A caller is sent to where an image is stored, and to nothing else; HEAD is answered here.
func TestRedirectImages(t *testing.T) {
	s := serve(t, httpapi.Options{RedirectImages: true}, func(c *engine.Config) {
		c.Images = linked{c.Store.(imagegen.ImageStore)}
	})
	g := s.accepted(s.post(fox("")), http.StatusOK)
	path := s.path(g.Images[0].URL)
	a := s.do("GET", path, "")
	s.is.Equal(a.StatusCode, http.StatusFound)
	s.is.Equal(a.Header.Get("Location"), "https://objects.example.com/"+string(g.Images[0].ID)+
		"?type=image/png&for=5m0s")
	s.is.Equal(a.Header.Get("Cache-Control"), "no-store")
	s.is.Equal(len(a.body), 0)
	s.is.Equal(s.do("HEAD", path, "").StatusCode, http.StatusOK)
	s.refused(s.do("GET", path+"0", ""), http.StatusNotFound, imagegen.CodeNotFound)

	for _, cannot := range []func(*engine.Config){
		func(*engine.Config) {},
		func(c *engine.Config) { c.Images = unlinked{c.Store.(imagegen.ImageStore)} },
	} {
		plain := serve(t, httpapi.Options{RedirectImages: true}, cannot)
		g = plain.accepted(plain.post(fox("")), http.StatusOK)
		plain.is.Equal(plain.do("GET", plain.path(g.Images[0].URL), "").StatusCode, http.StatusOK)
	}
}
