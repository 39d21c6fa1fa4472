package console_test

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// All images of a generation can be downloaded as one file, unchanged.
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
		s.is.Equal(f.Name, fmt.Sprintf("a-fox-%d.png", n+1))
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

// An archive reads one image at a time. If one cannot be read, the download is cut off.
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
