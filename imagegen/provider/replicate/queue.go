package replicate

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// queue is the upstream as package task sees it: its tasks are predictions.
type queue struct{ *Provider }

// Submit creates a prediction.
func (q queue) Submit(ctx context.Context, r imagegen.ProviderRequest) (task.Handle, error) {
	var d upstream.Document
	input, err := q.filler.Fill(r, d.DataURL)
	if err != nil {
		return task.Handle{}, err
	}
	fields := map[string]any{"input": input}
	if q.target.version != "" {
		fields["version"] = q.target.version
	}
	body, err := d.Body(fields)
	if err != nil {
		return task.Handle{}, err
	}
	response, err := q.client.Do(ctx, http.MethodPost, q.target.create, body)
	if err != nil {
		return task.Handle{}, err
	}
	defer response.Body.Close()
	var created prediction
	err = upstream.Decode(ctx, response.Body, &created)
	if err == nil && created.URLs.Get == "" {
		err = upstream.Broken(ctx, errors.New("it names no urls.get"))
	}
	return task.Handle{Status: created.URLs.Get, Cancel: created.URLs.Cancel}, err
}

// Poll asks how a prediction stands.
func (q queue) Poll(ctx context.Context, h task.Handle) (task.Progress, error) {
	response, err := q.client.Do(ctx, http.MethodGet, h.Status, nil)
	if err != nil {
		return task.Progress{}, err
	}
	defer response.Body.Close()
	var got prediction
	if err := upstream.Decode(ctx, response.Body, &got); err != nil {
		return task.Progress{}, err
	}
	if got.Status == "" {
		return task.Progress{}, upstream.Broken(ctx, errors.New("it names no status"))
	}
	p := got.progress()
	p.Wait = upstream.RetryAfter(response.Header)
	return p, nil
}

// Cancel ends a prediction.
func (q queue) Cancel(ctx context.Context, h task.Handle) error {
	if h.Cancel == "" {
		return nil
	}
	return q.client.JSON(ctx, http.MethodPost, h.Cancel, nil, nil)
}

// Fetch opens an image.
func (q queue) Fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	return q.client.Fetch(ctx, address)
}
