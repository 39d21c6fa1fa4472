package client

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// Quote implements [imagegen.Service]. References are only counted, and a mask is not sent: whether the
// model takes one shows when the images are asked for.
func (c *Client) Quote(ctx context.Context, q imagegen.GenerateRequest) (imagegen.Quote, error) {
	if err := sendable(q); err != nil {
		return imagegen.Quote{}, err
	}
	sent, err := json.Marshal(wire.NewQuoteRequest(q))
	if err != nil {
		return imagegen.Quote{}, unreachable(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+wire.QuotePath, bytes.NewReader(sent))
	if err != nil {
		return imagegen.Quote{}, unreachable(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.do(r)
	if err != nil {
		return imagegen.Quote{}, err
	}
	defer finish(answer)
	var body wire.Quote
	if err := decode(ctx, answer, &body); err != nil {
		return imagegen.Quote{}, err
	}
	return body.Value(), nil
}

// Await implements [imagegen.Service]: the service waits, so proxies on the way must let a connection be
// silent that long. Use Wait to wait until the end.
func (c *Client) Await(ctx context.Context, id imagegen.GenerationID, most time.Duration) (imagegen.Generation, error) {
	g, _, err := c.poll(ctx, id, min(most, imagegen.MaxAwait))
	return g, err
}

// Usage implements [imagegen.Service]. Only the days of From and To are sent, in UTC; for zero ones the
// service fills in what the report then says.
func (c *Client) Usage(ctx context.Context, q imagegen.UsageQuery) (imagegen.UsageReport, error) {
	query := url.Values{}
	for name, day := range map[string]time.Time{"from": q.From, "to": q.To} {
		if !day.IsZero() {
			query.Set(name, day.UTC().Format(time.DateOnly))
		}
	}
	var by []string
	for _, g := range q.By {
		by = append(by, string(g))
	}
	if len(by) > 0 {
		query.Set("group_by", strings.Join(by, ","))
	}
	var body wire.UsageReport
	if err := c.read(ctx, wire.UsagePath+"?"+query.Encode(), &body); err != nil {
		return imagegen.UsageReport{}, err
	}
	r, err := body.Value()
	return r, unreadable(err)
}
