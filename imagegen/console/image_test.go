package console_test

import (
	"image"
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Only its owner can fetch an image. The answer is the file as stored, can be cached, and is never a page.
func TestImage(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	v.grant(10)
	i := v.finish("a fox", 1, imagegen.StatusSucceeded).Images[0]
	path := "images/" + string(i.ID)
	a := v.get(path)
	s.is.Equal(a.StatusCode, http.StatusOK)
	_, format, err := image.DecodeConfig(strings.NewReader(a.body))
	s.is.NoErr(err)
	s.is.Equal(format, "png")
	for name, want := range map[string]string{"Content-Type": "image/png", "X-Content-Type-Options": "nosniff",
		"Cache-Control":           "private, max-age=31536000, immutable",
		"Content-Security-Policy": "default-src 'none'; sandbox", "Content-Disposition": "inline"} {
		s.is.Equal(a.Header.Get(name), want)
	}

	tag := a.Header.Get("ETag")
	s.is.Equal(v.get(path, "If-None-Match", tag).StatusCode, http.StatusNotModified)
	part := v.get(path, "Range", "bytes=1-3")
	s.is.Equal(part.StatusCode, http.StatusPartialContent)
	s.is.Equal(part.body, "PNG")
	many := v.get(path, "Range", "bytes=0-0"+strings.Repeat(",1-1", 16))
	s.is.Equal(many.StatusCode, http.StatusOK)
	s.is.Equal(many.body, a.body)
	head := v.do(http.MethodHead, path, nil)
	s.is.Equal(head.StatusCode, http.StatusOK)
	s.is.Equal(head.Header.Get("ETag"), tag)
}

// The gallery loads thumbnails if the engine makes them, otherwise whole images.
func TestThumbnail(t *testing.T) {
	for name, thumbnails := range map[string]bool{"with": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			s := openOver(t, func(c *engine.Config) { c.Thumbnails = thumbnails })
			v := s.signedIn("alice")
			v.grant(10)
			r, err := v.As(v.user.ID).Generate(t.Context(), imagegen.GenerateRequest{Model: "fake-1", Prompt: "a fox",
				Size: imagegen.Size{Width: 640, Height: 400}})
			s.is.NoErr(err)
			id := string(r.Images[0].ID)
			a := v.get("thumbnails/" + id)
			s.is.Equal(a.StatusCode, http.StatusOK)
			shape, format, err := image.DecodeConfig(strings.NewReader(a.body))
			s.is.NoErr(err)
			s.is.Equal(a.Header.Get("Content-Type"), "image/"+format)
			s.is.Equal(a.Header.Get("Cache-Control"), "private, max-age=31536000, immutable")
			if thumbnails {
				s.is.Equal([]int{shape.Width, shape.Height}, []int{320, 200})
				return
			}
			s.is.Equal([]int{shape.Width, shape.Height}, []int{640, 400})
			s.is.Equal(a.body, v.get("images/"+id).body)
		})
	}
}
