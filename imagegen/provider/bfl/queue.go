package bfl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// queue is the upstream as package task sees it.
type queue struct{ *Provider }

// Submit starts a task.
func (q queue) Submit(ctx context.Context, r imagegen.ProviderRequest) (task.Handle, error) {
	body, err := q.body(r)
	if err != nil {
		return task.Handle{}, err
	}
	response, err := q.client.Do(ctx, http.MethodPost, "/"+url.PathEscape(q.config.Model), body)
	if err != nil {
		return task.Handle{}, err
	}
	defer response.Body.Close()
	var accepted struct {
		PollingURL string `json:"polling_url"`
	}
	err = upstream.Decode(ctx, response.Body, &accepted)
	if err == nil && accepted.PollingURL == "" {
		err = upstream.Broken(ctx, errors.New("it names no polling_url"))
	}
	return task.Handle{Status: accepted.PollingURL}, err
}

func (q queue) body(r imagegen.ProviderRequest) (*upstream.Body, error) {
	size, err := q.sizes.Choose(r)
	if err != nil {
		return nil, err
	}
	var d upstream.Document
	fields := map[string]any{"prompt": r.Prompt, "width": size.Width, "height": size.Height}
	if q.config.OutputFormat != "" {
		fields["output_format"] = q.config.OutputFormat
	}
	if q.config.SafetyTolerance != nil {
		fields["safety_tolerance"] = *q.config.SafetyTolerance
	}
	for i, reference := range r.References {
		name := "input_image"
		if i > 0 {
			name = fmt.Sprintf("input_image_%d", i+1)
		}
		fields[name] = d.Base64(reference)
	}
	return d.Body(fields)
}

// Poll asks how a task stands.
func (q queue) Poll(ctx context.Context, h task.Handle) (task.Progress, error) {
	response, err := q.client.Do(ctx, http.MethodGet, h.Status, nil)
	if err != nil {
		return task.Progress{}, err
	}
	defer response.Body.Close()
	var a answer
	if err := upstream.Decode(ctx, response.Body, &a); err != nil {
		return task.Progress{}, err
	}
	p := a.progress()
	p.Wait = upstream.RetryAfter(response.Header)
	return p, nil
}

// Cancel does nothing: the upstream has no way to.
func (q queue) Cancel(context.Context, task.Handle) error { return nil }

// Fetch opens an image.
func (q queue) Fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	return q.client.Fetch(ctx, address)
}

// answer is what the upstream says of a task.
type answer struct {
	Status string
	Result struct{ Sample string }
}

// progress takes a status that it does not know for another name of work in progress, of which the
// upstream has added some.
func (a answer) progress() task.Progress {
	e := &imagegen.ProviderError{Err: fmt.Errorf("the task's status is %q", upstream.Excerpt([]byte(a.Status)))}
	switch a.Status {
	case "Ready":
		if a.Result.Sample != "" {
			return task.Progress{Done: true, Images: []string{a.Result.Sample}}
		}
		e.Message = "the upstream names no image"
	case "Request Moderated", "Content Moderated":
		e.Class, e.Message = imagegen.ClassRefused, "the upstream's moderation refused the request"
	case "Task not found":
		e.Message = "the upstream no longer knows a task that it took in"
	case "Error", "Failed", "":
		e.Message = "the upstream failed to make the image"
	default:
		return task.Progress{}
	}
	return task.Progress{Done: true, Err: e}
}
