package fal

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// queue is the upstream as package task sees it.
type queue struct{ *Provider }

// Submit puts a request in the queue.
func (q queue) Submit(ctx context.Context, r imagegen.ProviderRequest) (task.Handle, error) {
	var d upstream.Document
	input, err := q.filler.Fill(r, d.DataURL)
	if err != nil {
		return task.Handle{}, err
	}
	body, err := d.Body(input)
	if err != nil {
		return task.Handle{}, err
	}
	model := q.config.Model
	if len(r.References) > 0 {
		model = q.config.EditModel
	}
	response, err := q.client.Do(ctx, http.MethodPost, "/"+model, body)
	if err != nil {
		return task.Handle{}, err
	}
	defer response.Body.Close()
	var accepted struct {
		StatusURL   string `json:"status_url"`
		ResponseURL string `json:"response_url"`
		CancelURL   string `json:"cancel_url"`
	}
	err = upstream.Decode(ctx, response.Body, &accepted)
	if err == nil && (accepted.StatusURL == "" || accepted.ResponseURL == "") {
		err = upstream.Broken(ctx, errors.New("it names no status_url or no response_url"))
	}
	return task.Handle{Status: accepted.StatusURL, Result: accepted.ResponseURL, Cancel: accepted.CancelURL}, err
}

// Poll asks how a request stands, and for the response once it is there.
func (q queue) Poll(ctx context.Context, h task.Handle) (task.Progress, error) {
	var now struct{ Status string }
	wait, err := q.ask(ctx, h.Status, &now)
	if err != nil {
		return task.Progress{}, err
	}
	if now.Status == "" {
		return task.Progress{}, upstream.Broken(ctx, errors.New("it names no status"))
	}
	if now.Status != "COMPLETED" {
		return task.Progress{Wait: wait}, nil
	}
	var o output
	_, err = q.ask(ctx, h.Result, &o)
	if _, ended := errors.AsType[*problem](err); ended {
		return task.Progress{Done: true, Err: upstream.Unsettled(err)}, nil
	}
	if err != nil {
		return task.Progress{}, err
	}
	return o.progress(), nil
}

func (q queue) ask(ctx context.Context, address string, v any) (wait time.Duration, err error) {
	response, err := q.client.Do(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return upstream.RetryAfter(response.Header), upstream.Decode(ctx, response.Body, v)
}

// Cancel takes a request out of the queue, or tells the runner to stop.
func (q queue) Cancel(ctx context.Context, h task.Handle) error {
	if h.Cancel == "" {
		return nil
	}
	return q.client.JSON(ctx, http.MethodPut, h.Cancel, nil, nil)
}

// Fetch opens an image.
func (q queue) Fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	return q.client.Fetch(ctx, address)
}
