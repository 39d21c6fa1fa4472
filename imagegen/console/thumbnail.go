package console

import (
	"errors"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/byterange"
)

// thumbnail serves a small copy of one of the person's images; the image itself where the engine
// keeps no copies.
func (c *Console) thumbnail(p *page) error {
	id := imagegen.ImageID(p.r.PathValue("image"))
	f, err := p.service().OpenThumbnail(p.context(), id)
	if errors.Is(err, imagegen.ErrNotFound) {
		return c.image(p)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	p.imageHeader("thumbnail-"+string(id), f)
	http.ServeContent(p.w, byterange.Honoured(p.r), "", f.CreatedAt, f)
	return nil
}
