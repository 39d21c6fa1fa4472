package client

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// Quote implements [imagegen.Service]. It sends only the number of references, and whether there is a mask.
func (c *Client) Quote(ctx context.Context, q imagegen.GenerateRequest) (imagegen.Quote, error) {
	if err := sendable(q); err != nil {
		return imagegen.Quote{}, err
	}
	answer, err := c.sendJSON(ctx, wire.QuotePath, "", wire.NewQuoteRequest(q))
	if err != nil {
		return imagegen.Quote{}, err
	}
	var body wire.Quote
	if err := decode(ctx, answer, &body); err != nil {
		return imagegen.Quote{}, err
	}
	return body.Value(), nil
}

// Await implements [imagegen.Service] with one request. No data is sent while the service waits, so
// proxies in between must not close such a connection. Use Wait to wait until the end.
func (c *Client) Await(ctx context.Context, id imagegen.GenerationID, most time.Duration) (imagegen.Generation, error) {
	g, _, err := c.poll(ctx, id, min(most, imagegen.MaxAwait))
	return g, err
}

// Usage implements [imagegen.Service]. It sends only the days of From and To, in UTC. If one is zero, the
// service chooses it, by its own clock; see the report.
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
