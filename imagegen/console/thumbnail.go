package console

import (
	"errors"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/byterange"
)

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
	defer f.Close()
	p.imageHeader("thumbnail-"+string(id), f)
	http.ServeContent(p.w, byterange.Honoured(p.r), "", f.CreatedAt, f)
	return nil
}
