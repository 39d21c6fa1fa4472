package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// Cancel implements [imagegen.Service]. It can be repeated after an error that leaves the outcome unknown:
// a generation that was cancelled is returned again.
func (c *Client) Cancel(ctx context.Context, id imagegen.GenerationID) (imagegen.Generation, error) {
	path := wire.CancelPath(imagegen.GenerationID(url.PathEscape(string(id))))
	var body wire.Generation
	if _, err := c.readWithHeader(ctx, http.MethodPost, path, nil, &body); err != nil {
		return imagegen.Generation{}, err
	}
	g, err := body.Value()
	return g, unreadable(err)
}
