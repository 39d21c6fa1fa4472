package client_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

func TestOverHTTP(t *testing.T) {
	imagegentest.Service(t, func(t *testing.T) imagegentest.Fixture { return overHTTP(t, imagegentest.Start(t)) })
}

func TestPricesOverHTTP(t *testing.T) {
	imagegentest.Prices(t, func(t *testing.T) imagegentest.Fixture {
		return overHTTP(t, imagegentest.Start(t, func(c *engine.Config) {
			c.Models = []engine.Model{imagegentest.Priced()}
		}))
	})
}

func overHTTP(t *testing.T, e imagegentest.Running) imagegentest.Fixture {
	server := httptest.NewServer(httpapi.NewHandler(e.Engine, httpapi.Options{}))
	t.Cleanup(server.Close)
	as := func(u imagegen.UserID) imagegen.Service {
		c, err := client.New(server.URL, e.Key(t, u), nil)
		is.New(t).NoErr(err)
		return c
	}
	return imagegentest.Fixture{Alice: as(imagegentest.Alice), Bob: as(imagegentest.Bob)}
}

// The same with a service that leads to its object store for images.
func TestOverHTTPWithRedirects(t *testing.T) {
	imagegentest.Service(t, func(t *testing.T) imagegentest.Fixture {
		images := &linked{T: t}
		objects := httptest.NewServer(images)
		t.Cleanup(objects.Close)
		images.url = objects.URL
		e := imagegentest.Start(t, func(c *engine.Config) {
			images.ImageStore = c.Store.(imagegen.ImageStore)
			c.Images = images
		})
		server := httptest.NewServer(httpapi.NewHandler(e.Engine, httpapi.Options{RedirectImages: true}))
		t.Cleanup(server.Close)
		as := func(u imagegen.UserID) imagegen.Service {
			c, err := client.New(server.URL, e.Key(t, u), nil)
			is.New(t).NoErr(err)
			return c
		}
		return imagegentest.Fixture{Alice: as(imagegentest.Alice), Bob: as(imagegentest.Bob)}
	})
}

// linked is an image store with addresses, at which it serves its images.
type linked struct {
	*testing.T
	imagegen.ImageStore
	url   string
	links sync.Map // path → imagegen.ImageKey
}

var _ imagegen.ImageLinker = (*linked)(nil)

func (l *linked) Link(_ context.Context, k imagegen.ImageKey, _ string, _ time.Duration) (string, error) {
	path := "/" + rand.Text()
	l.links.Store(path, k)
	return l.url + path, nil
}

func (l *linked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header["Authorization"] != nil {
		l.Error("the key was sent to the store")
	}
	k, ok := l.links.Load(r.URL.Path)
	if !ok {
		http.NotFound(w, r)
		return
	}
	f, err := l.OpenImage(r.Context(), k.(imagegen.ImageKey))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	w.Header().Set("ETag", `"the store's"`)
	http.ServeContent(w, r, "", time.Unix(1e9, 0), f)
}
