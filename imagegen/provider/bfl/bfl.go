package bfl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Provider makes images with a FLUX model. It is safe for concurrent use and keeps no state but
// idle connections. Probe asks for the account's credits and fails if there are none; it does
// not find out whether there is such a model.
type Provider struct{ *hosted.Provider }

// describe adds to an API the requests of Black Forest Labs and what their answers mean.
func (c Config) describe(a hosted.API, f family) hosted.API {
	a.Submit = func(r imagegen.ProviderRequest, size imagegen.Size, d *upstream.Document) (string, any) {
		return "/" + url.PathEscape(c.Model), c.fields(r, size, f, d)
	}
	a.Accepted = func(read hosted.Answer) (task.Handle, error) {
		var at struct {
			PollingURL string `json:"polling_url"`
			Cost       json.RawMessage
		}
		err := read(&at)
		return task.Handle{Status: at.PollingURL, Units: upstream.Micros(string(at.Cost))}, err
	}
	a.Status = func(read hosted.Answer) (task.Progress, error) {
		var now answer
		if err := read(&now); err != nil {
			return task.Progress{}, err
		}
		return now.progress(), nil
	}
	// The answer about a task that was moderated may come with the status 503 (vercel/ai,
	// packages/black-forest-labs).
	a.Ended = func(err error) (task.Progress, bool) {
		var now answer
		failed, ok := errors.AsType[*upstream.StatusError](err)
		if !ok || json.Unmarshal(failed.Answer().Body, &now) != nil || now.Status == "" {
			return task.Progress{}, false
		}
		return now.progress(), true
	}
	a.Probe = func(ctx context.Context, client *upstream.Client) error {
		var account struct{ Credits float64 }
		err := client.JSON(ctx, http.MethodGet, "/credits", nil, &account)
		if err == nil && account.Credits <= 0 {
			err = errors.New("the upstream account has no credits left")
		}
		if err != nil {
			return fmt.Errorf("asking for the account's credits: %w", err)
		}
		return nil
	}
	return a
}

// fields are the JSON fields of a submission. What a request asks for takes precedence over what is configured.
func (c Config) fields(r imagegen.ProviderRequest, size imagegen.Size, f family, d *upstream.Document) map[string]any {
	fields := map[string]any{"prompt": r.Prompt}
	f.setSize(fields, size)
	if format := cmp.Or(string(r.Options.Format), c.OutputFormat); format != "" && f.formats {
		fields["output_format"] = format
	}
	if r.Options.Seed != nil {
		fields["seed"] = *r.Options.Seed
	}
	if c.SafetyTolerance != nil {
		fields["safety_tolerance"] = *c.SafetyTolerance
	}
	var images []string
	for _, reference := range r.References {
		images = append(images, d.Base64(reference))
	}
	f.setReferences(fields, images)
	return fields
}

// answer is the upstream's answer about a task.
type answer struct {
	Status string
	Result struct{ Sample string }
}

// progress takes an unknown status for another name of work in progress, since the upstream has added some. Failures
// are of ClassUnknown, since it is not known whether the task was charged; only moderation has a class of its own.
func (a answer) progress() task.Progress {
	e := &imagegen.ProviderError{Err: fmt.Errorf("the task's status is %q", upstream.Excerpt([]byte(a.Status)))}
	switch a.Status {
	case "Ready":
		if a.Result.Sample != "" {
			return task.Progress{Done: true, Images: []string{a.Result.Sample}}
		}
		e.Message, e.Err = "the upstream names no image", nil
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
