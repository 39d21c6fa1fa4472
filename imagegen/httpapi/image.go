package httpapi

import (
	"net/http"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// image serves a stored image: its bytes never change, and its identifier is the permission.
func (a *api) image(x *exchange) error {
	f, err := a.engine.OpenImage(x.ctx, imagegen.ImageID(x.id))
	if err != nil {
		return err
	}
	defer f.Close()
	x.set("Content-Type", f.MediaType)
	x.set("Content-Disposition", `inline; filename="`+x.id+"."+strings.TrimPrefix(f.MediaType, "image/")+`"`)
	x.set("Etag", `"`+f.ETag+`"`)
	x.set("Cache-Control", "public, max-age=31536000, immutable")
	x.set("Content-Security-Policy", "default-src 'none'; sandbox")
	x.set("Referrer-Policy", "no-referrer")
	http.ServeContent(x, x.request, "", f.CreatedAt, f.ReadSeekCloser) // the bare file: see exchange.ReadFrom
	return nil
}
