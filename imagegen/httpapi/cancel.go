package httpapi

import (
	"bytes"
	"io"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// cancel ends a generation that waits. It takes no body, but lets an empty object pass, since some
// clients send one with each POST.
func (a *api) cancel(x *exchange) error {
	if err := a.site.FindBase(&x.Exchange); err != nil {
		return err
	}
	if x.Request.URL.RawQuery != "" {
		return imagegen.Invalid("this address takes no query")
	}
	const most = 16
	in, err := x.Body(most)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(in)
	if err != nil {
		return serving.BodyError(err)
	}
	if body = bytes.TrimSpace(body); len(body) > 0 && string(body) != "{}" {
		return imagegen.Invalid("this address takes no body; leave it out")
	}
	g, err := x.session.Cancel(x.Ctx, imagegen.GenerationID(x.id))
	if err != nil {
		return err
	}
	x.Generation = g.ID
	return x.JSON(http.StatusOK, wire.NewGeneration(g, x.Base))
}
