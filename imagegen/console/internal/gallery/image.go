package gallery

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/internal/byterange"
)

// Image serves one of the person's images: a generated one, or a reference that was sent with a generation. The API
// serves an image to anybody who knows its identifier; the console serves only its owner.
func Image(p *frame.Page) error {
	name := p.Request.PathValue("image")
	if strings.Contains(name, placeSeparator) {
		return serveSentImage(p, name)
	}
	id := imagegen.ImageID(name)
	g, _ := id.Generation()
	if _, err := p.Service().Generation(p.Context(), g); err != nil { // that it is the person's
		return err
	}
	f, err := p.Engine.OpenImage(p.Context(), id)
	if err != nil {
		return err
	}
	return serveImage(p, f)
}

// Thumbnail serves a small copy of one of the person's images, or the image itself if there is no copy: the engine
// makes copies only if it is set up for them, and then after the settlement. An image of another user is not found
// either way.
func Thumbnail(p *frame.Page) error {
	id := imagegen.ImageID(p.Request.PathValue("image"))
	f, err := p.Service().OpenThumbnail(p.Context(), id)
	if errors.Is(err, imagegen.ErrNotFound) {
		return Image(p)
	}
	if err != nil {
		return err
	}
	return serveImage(p, f)
}

// serveSentImage serves a reference that was sent with a generation, while the service keeps it.
func serveSentImage(p *frame.Page, name string) error {
	i, err := sentImage(p.Context(), p.Service(), name)
	if err != nil {
		return err
	}
	f, err := i.Open(p.Context())
	if err != nil {
		return err
	}
	defer f.Close()
	h := p.Writer.Header()
	h.Set("Content-Disposition", "inline")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", imagePolicy)
	_, err = io.Copy(p.Stream(i.MediaType()), f)
	return err
}

// imagePolicy keeps a browser from treating the bytes of an image as a page, whatever they are.
const imagePolicy = "default-src 'none'; sandbox"

// serveImage answers with an image, whose bytes never change, and closes it. A browser may cache them for a year, but
// no proxy may.
func serveImage(p *frame.Page, f *imagegen.ImageFile) error {
	defer f.Close()
	p.Generation, _ = f.ID.Generation()
	h := p.Writer.Header()
	h.Set("Content-Disposition", "inline") // links name the file by the prompt
	h.Set("ETag", `"`+f.ETag+`"`)
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	h.Set("Content-Security-Policy", imagePolicy)
	// ServeContent answers ranges and conditional requests, of which Honoured leaves only the sensible ones.
	http.ServeContent(p.Stream(f.MediaType), byterange.Honoured(p.Request), "", f.CreatedAt, f)
	return nil
}
