package hosted

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// queue is the upstream as package task sees it.
type queue struct{ *Provider }

// Submit starts a task. It never repeats a submission. If the answer does not name all addresses that are needed
// later, the error is of ClassUnknown: there is a task, but no way to find it.
func (q queue) Submit(ctx context.Context, r imagegen.ProviderRequest) (task.Handle, error) {
	size, err := q.api.Can.Choose(r)
	if err != nil {
		return task.Handle{}, err
	}
	if q.api.WhiteMask {
		if r.Mask, err = upstream.WhiteMask(ctx, r.Mask); err != nil {
			return task.Handle{}, err
		}
	}
	var d upstream.Document
	path, fields := q.api.Submit(r, size, &d)
	body, err := d.Body(fields)
	if err != nil {
		return task.Handle{}, err
	}
	response, err := q.client.Do(ctx, http.MethodPost, path, body)
	if err != nil {
		return task.Handle{}, err
	}
	defer response.Body.Close()
	h, err := q.api.Accepted(decoder(ctx, response))
	if err == nil && (h.Status == "" || q.api.Response != nil && h.Result == "") {
		err = upstream.Imageless(response.Body, "it does not say where to ask about the task")
	}
	h.Status, h.Result, h.Cancel = q.client.Absolute(h.Status), q.client.Absolute(h.Result), q.client.Absolute(h.Cancel)
	return h, err
}

// decoder reads the body of r, which its caller closes.
func decoder(ctx context.Context, r *http.Response) Answer {
	return func(v any) error { return upstream.Decode(ctx, r.Body, v) }
}

// Poll asks how a task stands, and asks for the response once the task is done.
func (q queue) Poll(ctx context.Context, h task.Handle) (task.Progress, error) {
	now, err := q.queryTask(ctx, h.Status, q.api.Status)
	if q.api.Response != nil {
		if err != nil || !now.Done {
			return now, err
		}
		now, err = q.queryTask(ctx, h.Result, q.api.Response)
	}
	if err != nil && q.api.Ended != nil {
		if end, ok := q.api.Ended(err); ok {
			return end, nil
		}
	}
	return now, err
}

// queryTask sends a question about a task and reads the answer, with the time after which the upstream wants to be
// asked again. An error that has no class yet gets ClassUnknown.
func (q queue) queryTask(ctx context.Context, address string, read func(Answer) (task.Progress, error)) (task.Progress,
	error) {
	response, err := q.client.Do(ctx, http.MethodGet, address, nil)
	if err != nil {
		return task.Progress{}, err
	}
	defer response.Body.Close()
	p, err := read(decoder(ctx, response))
	if _, classified := errors.AsType[*imagegen.ProviderError](err); err != nil && !classified {
		err = upstream.Broken(ctx, err)
	}
	if e, ok := errors.AsType[*imagegen.ProviderError](p.Err); ok && e.Err == nil {
		p.Err = upstream.Because(response.Body, *e)
	}
	p.Wait = upstream.RetryAfter(response.Header)
	p.Used.Units += upstream.Micros(response.Header.Get(q.api.UnitsHeader))
	return p, err
}

// Cancel implements task.Queue.
func (q queue) Cancel(ctx context.Context, h task.Handle) error {
	if h.Cancel == "" {
		return nil
	}
	return q.client.JSON(ctx, q.api.CancelMethod, h.Cancel, nil, nil)
}

// Fetch implements task.Queue.
func (q queue) Fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	return q.client.Fetch(ctx, address)
}
