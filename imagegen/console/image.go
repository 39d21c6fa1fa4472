package console

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/byterange"
	"github.com/imagegend/imagegend/internal/filename"
)

// image serves one of the person's images: a generated one, or a reference that was sent with a generation. The API
// serves an image to whoever knows its identifier; the console serves only its owner.
func (c *Console) image(p *page) error {
	name := p.r.PathValue("image")
	if strings.Contains(name, placeSeparator) {
		return p.sentImage(name)
	}
	id := imagegen.ImageID(name)
	g, _ := id.Generation()
	if _, err := p.service().Generation(p.context(), g); err != nil { // that it is the person's
		return err
	}
	f, err := c.cfg.Engine.OpenImage(p.context(), id)
	if err != nil {
		return err
	}
	return p.serveImage(string(id), f)
}

// thumbnail serves a small copy of one of the person's images, or the image itself if there is no copy: the engine
// makes copies only if it is set up for them, and then after the settlement. An image of another user is not found
// either way.
func (c *Console) thumbnail(p *page) error {
	id := imagegen.ImageID(p.r.PathValue("image"))
	f, err := p.service().OpenThumbnail(p.context(), id)
	if errors.Is(err, imagegen.ErrNotFound) {
		return c.image(p)
	}
	if err != nil {
		return err
	}
	return p.serveImage("thumbnail-"+string(id), f)
}

// sentImage serves a reference that was sent with a generation, while the service keeps it.
func (p *page) sentImage(name string) error {
	i, err := sentImage(p.context(), p.service(), name)
	if err != nil {
		return err
	}
	f, err := i.Open(p.context())
	if err != nil {
		return err
	}
	defer f.Close()
	p.begun = true
	h := p.w.Header()
	h.Set("Content-Type", i.MediaType())
	h.Set("Content-Disposition", "inline")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	_, err = io.Copy(p.w, f)
	return err
}

// serveImage answers with an image, whose bytes never change, and closes it. The policy keeps a browser from treating
// them as a page, whatever they are. It may cache them for a year, but no proxy may.
func (p *page) serveImage(name string, f *imagegen.ImageFile) error {
	defer f.Close()
	p.begun = true
	p.about, _ = f.ID.Generation()
	h := p.w.Header()
	h.Set("Content-Type", f.MediaType)
	h.Set("Content-Disposition", `inline; filename="`+name+filename.Extension(f.MediaType)+`"`)
	h.Set("ETag", `"`+f.ETag+`"`)
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	// ServeContent answers ranges and conditional requests, of which Honoured leaves only the sensible ones.
	http.ServeContent(p.w, byterange.Honoured(p.r), "", f.CreatedAt, f)
	return nil
}
