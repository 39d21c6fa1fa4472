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
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, nil)
	if err != nil {
		return imagegen.Generation{}, unreachable(err)
	}
	answer, err := c.do(r)
	if err != nil {
		return imagegen.Generation{}, err
	}
	defer finish(answer)
	var body wire.Generation
	if err := decode(ctx, answer, &body); err != nil {
		return imagegen.Generation{}, err
	}
	g, err := body.Value()
	return g, unreadable(err)
}
