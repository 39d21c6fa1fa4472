package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// maxBody bounds what is read of an answer. The longest is a page of generations with long prompts, of
// some 18 MiB.
const maxBody = 64 << 20

// Models implements [imagegen.Service].
func (c *Client) Models(ctx context.Context) ([]imagegen.ModelInfo, error) {
	var body wire.Models
	err := c.read(ctx, wire.ModelsPath, &body)
	return body.Value(), err
}

// Balance implements [imagegen.Service].
func (c *Client) Balance(ctx context.Context) (imagegen.Balance, error) {
	var body wire.BalanceBody
	err := c.read(ctx, wire.CreditsPath, &body)
	return body.Balance.Value(), err
}

// Generation implements [imagegen.Service].
func (c *Client) Generation(ctx context.Context, id imagegen.GenerationID) (imagegen.Generation, error) {
	g, _, err := c.poll(ctx, id, 0)
	return g, err
}

// Generations implements [imagegen.Service].
func (c *Client) Generations(ctx context.Context, q imagegen.Query) (imagegen.Page, error) {
	if q.Favourites {
		return imagegen.Page{}, imagegen.Invalid("favourites cannot be listed over HTTP; list all of them")
	}
	query := url.Values{}
	if q.Limit != 0 {
		query.Set("limit", strconv.Itoa(q.Limit))
	}
	if q.After != "" {
		query.Set("after", string(q.After))
	}
	if q.Status != "" {
		query.Set("status", string(q.Status))
	}
	var body wire.List
	if err := c.read(ctx, wire.GenerationsPath+"?"+query.Encode(), &body); err != nil {
		return imagegen.Page{}, err
	}
	p, err := body.Value()
	return p, unreadable(err)
}

const (
	// awaitEach is how long the service is asked to wait for an end in one call: proxies cut connections on
	// which nothing is sent, the most impatient after twenty seconds.
	awaitEach = 15 * time.Second
	// pollAfter is when to ask again if the service neither waits nor says when.
	pollAfter = 2 * time.Second
	// pollSoonest keeps a service that says "at once" from being asked without pause.
	pollSoonest = 100 * time.Millisecond
)

// Wait waits until a generation has succeeded or failed, and returns it. It makes requests for which the
// service waits some seconds each; a service that does not support this is polled. Its errors are those of
// Generation, or that of ctx if it ends first. A generation that failed is not an error here: see its
// Failure.
func (c *Client) Wait(ctx context.Context, id imagegen.GenerationID) (imagegen.Generation, error) {
	for {
		g, again, err := c.poll(ctx, id, c.patience())
		if err != nil || g.Status.Terminal() {
			return g, err
		}
		select {
		case <-ctx.Done():
			return g, ctx.Err()
		case <-time.After(max(again, pollSoonest)):
		}
	}
}

// patience is how long a call of Wait may take: half of the limit that Options.HTTP may set.
func (c *Client) patience() time.Duration {
	if c.http.Timeout > 0 {
		return min(awaitEach, (c.http.Timeout / 2).Truncate(time.Second))
	}
	return awaitEach
}

// poll reads a generation once, after a wait for its end if the service does that. again is the time until
// it should be asked again; 0: at once, since it has waited.
func (c *Client) poll(ctx context.Context, id imagegen.GenerationID,
	wait time.Duration) (g imagegen.Generation, again time.Duration, err error) {
	var body wire.Generation
	header, err := c.readWithHeader(ctx, http.MethodGet,
		wire.GenerationPath(imagegen.GenerationID(url.PathEscape(string(id)))), preferring(wait), &body)
	if err != nil {
		return g, 0, err
	}
	switch {
	case header.Get("Preference-Applied") != "": // it has waited
	case header.Get("Retry-After") != "":
		again = retryAfter(header)
	default:
		again = pollAfter
	}
	g, err = body.Value()
	return g, again, unreadable(err)
}

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

// preferring is the header that asks for a wait, in whole seconds, rounded up; nil for none.
func preferring(wait time.Duration) http.Header {
	seconds := (wait + time.Second - 1) / time.Second
	if seconds <= 0 {
		return nil
	}
	return http.Header{"Prefer": {"wait=" + strconv.Itoa(int(seconds))}}
}

// read reads the body at a path.
func (c *Client) read(ctx context.Context, path string, body wire.Body) error {
	_, err := c.readWithHeader(ctx, http.MethodGet, path, nil, body)
	return err
}

// readWithHeader sends a request without a body and reads the body of the answer. It returns the answer's header.
func (c *Client) readWithHeader(ctx context.Context, method, path string, asked http.Header,
	body wire.Body) (http.Header, error) {
	answer, err := c.do(ctx, method, path, asked, nil)
	if err != nil {
		return nil, err
	}
	return answer.Header, decode(ctx, answer, body)
}

// decode reads a body of bounded length, closes it and checks that it is one of this interface. If ctx has
// ended, its error comes first.
func decode(ctx context.Context, answer *http.Response, body wire.Body) error {
	defer finish(answer)
	err := json.NewDecoder(io.LimitReader(answer.Body, maxBody)).Decode(body)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		err = body.Check()
	}
	return unreadable(err)
}

// unreadable is the error for an answer that was cut off or is not one of this service; nil for nil.
func unreadable(err error) error {
	if err == nil {
		return nil
	}
	return &imagegen.Error{Code: imagegen.CodeInternal, Message: "the answer was cut off or is not one of this service",
		Err: err}
}
