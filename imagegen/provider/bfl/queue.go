package bfl

import (
	"context"
	"encoding/json"
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
	size, err := q.family.sizes.Choose(r)
	if err != nil {
		return nil, err
	}
	var d upstream.Document
	fields := map[string]any{"prompt": r.Prompt}
	q.family.ask(fields, r, size)
	if q.config.OutputFormat != "" {
		fields["output_format"] = q.config.OutputFormat
	}
	if q.config.SafetyTolerance != nil {
		fields["safety_tolerance"] = *q.config.SafetyTolerance
	}
	var images []string
	for _, reference := range r.References {
		images = append(images, d.Base64(reference))
	}
	q.family.attach(fields, images)
	return d.Body(fields)
}

// ask puts the size into the fields, as the model wants to be told of it.
func (f family) ask(fields map[string]any, r imagegen.ProviderRequest, size imagegen.Size) {
	if f.byPixels() {
		fields["width"], fields["height"] = size.Width, size.Height
		return
	}
	fields["aspect_ratio"] = imagegen.NearestRatio(size, imagegen.Ratios())
	if f.resolution != nil {
		fields["resolution"] = f.resolution[imagegen.TierOf(size.Area())]
	}
}

func (f family) attach(fields map[string]any, images []string) {
	if f.list && len(images) > 0 {
		fields[f.references] = images
		return
	}
	for i, image := range images {
		name := f.references
		if i > 0 {
			name = fmt.Sprintf("%s_%d", f.references, i+1)
		}
		fields[name] = image
	}
}

// Poll asks how a task stands.
func (q queue) Poll(ctx context.Context, h task.Handle) (task.Progress, error) {
	response, err := q.client.Do(ctx, http.MethodGet, h.Status, nil)
	if told, ok := errors.AsType[*state](err); ok {
		return told.progress(), nil
	}
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

// state is what a failed answer says of a task all the same: one that was moderated comes with a 503
// (vercel/ai, packages/black-forest-labs).
type state struct {
	answer
	cause error
}

func (s *state) Error() string { return s.cause.Error() }

func (s *state) Unwrap() error { return s.cause }

func classify(f upstream.Failure) *imagegen.ProviderError {
	var a answer
	if err := json.Unmarshal(f.Body, &a); err != nil || a.Status == "" {
		return nil
	}
	e := f.Error()
	e.Err = &state{a, e.Err}
	return e
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
