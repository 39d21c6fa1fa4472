package httpapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/imagegen/internal/byterange"
)

// image serves a stored image: its bytes never change, so it may be cached for ever, and its
// identifier is the permission. The policy keeps a browser from running anything in it.
func (a *api) image(x *exchange) error {
	if a.redirects && x.Request.Method == http.MethodGet {
		address, err := a.engine.LinkImage(x.Ctx, imagegen.ImageID(x.id))
		if !errors.Is(err, errors.ErrUnsupported) {
			return x.redirect(address, err)
		}
	}
	f, err := a.engine.OpenImage(x.Ctx, imagegen.ImageID(x.id))
	if err != nil {
		return err
	}
	defer f.Close()
	x.Generation, _ = f.ID.Generation()
	x.Header().Set("Content-Type", f.MediaType)
	x.Header().Set("Content-Disposition", `inline; filename="`+x.id+"."+strings.TrimPrefix(f.MediaType, "image/")+`"`)
	x.Header().Set("Etag", `"`+f.ETag+`"`)
	x.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	x.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	x.Header().Set("Referrer-Policy", "no-referrer")
	// not f, so that the system can copy a file: see Exchange.ReadFrom
	http.ServeContent(content{x}, byterange.Honoured(x.Request), "", f.CreatedAt, f.ReadSeekCloser)
	return nil
}

// redirect sends a caller to where an image is stored. The address is a secret that expires soon, so
// nobody may store the answer.
func (x *exchange) redirect(address string, err error) error {
	if err != nil {
		return err
	}
	x.Generation, _ = imagegen.ImageID(x.id).Generation()
	x.Header().Set("Location", address)
	x.Header().Set("Cache-Control", "no-store")
	x.Header().Set("Referrer-Policy", "no-referrer")
	x.WriteHeader(http.StatusFound)
	return nil
}

// content is what http.ServeContent writes an image to. What that function refuses, it answers as the
// interface answers any other error.
type content struct{ *exchange }

// WriteHeader implements http.ResponseWriter.
func (c content) WriteHeader(status int) {
	switch status {
	case http.StatusPreconditionFailed:
		c.refuse(errPreconditionFailed)
	case http.StatusRequestedRangeNotSatisfiable:
		c.refuse(&imagegen.Error{Code: serving.CodeRangeNotSatisfiable,
			Message: "the image has no such part: Range must be such as bytes=0-99, within its length; got " +
				serving.Shown(c.Request.Header.Get("Range"))})
	case http.StatusInternalServerError:
		c.refuse(errors.New("the file in the storage cannot be sought"))
	default:
		c.exchange.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter. It drops the text of http.ServeContent's own refusals.
func (c content) Write(p []byte) (int, error) {
	if c.Err != nil {
		return len(p), nil
	}
	return c.exchange.Write(p)
}

// refuse answers with an error, without the header fields that describe the image.
func (c content) refuse(err error) {
	for _, name := range []string{"Content-Disposition", "Content-Security-Policy", "Etag", "Last-Modified",
		"Referrer-Policy"} {
		delete(c.Header(), name)
	}
	c.fail(err)
}
