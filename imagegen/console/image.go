package console

import (
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/byterange"
	"github.com/imagegend/imagegend/internal/filename"
)

// image serves one of the person's images.
func (c *Console) image(p *page) error {
	id := imagegen.ImageID(p.r.PathValue("image"))
	g, _ := id.Generation()
	if _, err := p.service().Generation(p.context(), g); err != nil { // the API asks for no owner; here there is one
		return err
	}
	f, err := c.cfg.Engine.OpenImage(p.context(), id)
	if err != nil {
		return err
	}
	defer f.Close()
	p.imageHeader(string(id), f)
	http.ServeContent(p.w, byterange.Honoured(p.r), "", f.CreatedAt, f)
	return nil
}

// imageHeader sets the header of an image whose bytes never change. Whatever they are, they are no page.
func (p *page) imageHeader(name string, f *imagegen.ImageFile) {
	p.begun = true
	p.about, _ = f.ID.Generation()
	h := p.w.Header()
	h.Set("Content-Type", f.MediaType)
	h.Set("Content-Disposition", `inline; filename="`+name+filename.Extension(f.MediaType)+`"`)
	h.Set("ETag", `"`+f.ETag+`"`)
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
}
