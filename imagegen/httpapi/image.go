package httpapi

import (
	"net/http"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// image serves a stored image: its bytes never change, and its identifier is the permission.
func (a *api) image(x *exchange) error {
	f, err := a.engine.OpenImage(x.request.Context(), imagegen.ImageID(x.id))
	if err != nil {
		return err
	}
	defer f.Close()
	h := x.Header()
	h.Set("Content-Type", f.MediaType)
	h.Set("Content-Disposition", `inline; filename="`+x.id+"."+strings.TrimPrefix(f.MediaType, "image/")+`"`)
	h.Set("ETag", `"`+f.ETag+`"`)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Referrer-Policy", "no-referrer")
	http.ServeContent(x, x.request, "", f.CreatedAt, f.ReadSeekCloser) // the bare file: see exchange.ReadFrom
	return nil
}
