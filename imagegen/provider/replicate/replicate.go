package replicate

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
	"github.com/imagegend/imagegend/imagegen/provider/internal/template"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Provider makes images with a model on Replicate. It is safe for concurrent use and keeps no state but idle
// connections. Probe asks for the model or the deployment.
type Provider struct{ *hosted.Provider }

// describe adds to an API the requests of Replicate and what their answers mean. A task is a prediction.
func (t target) describe(a hosted.API, f *template.Filler) hosted.API {
	a.Submit = func(r imagegen.ProviderRequest, size imagegen.Size, d *upstream.Document) (string, any) {
		fields := map[string]any{"input": f.Fill(r, size, d.DataURL)}
		if t.version != "" {
			fields["version"] = t.version
		}
		return t.create, fields
	}
	a.Accepted = func(read hosted.Answer) (task.Handle, error) {
		var p prediction
		err := read(&p)
		return task.Handle{Status: p.URLs.Get, Cancel: p.URLs.Cancel}, err
	}
	a.Status = func(read hosted.Answer) (task.Progress, error) {
		var p prediction
		if err := read(&p); err != nil {
			return task.Progress{}, err
		}
		return p.progress()
	}
	a.CancelMethod = http.MethodPost
	a.Probe = func(ctx context.Context, c *upstream.Client) error {
		if err := c.JSON(ctx, http.MethodGet, t.show, nil, nil); err != nil {
			return fmt.Errorf("asking for %s: %w", t.show, err)
		}
		return nil
	}
	return a
}

// classify adds the time to wait after a 429, which is in the body, in seconds, if the header does not have it.
func classify(f upstream.Failure) *imagegen.ProviderError {
	e := f.Error()
	var said struct {
		RetryAfter uint32 `json:"retry_after"`
	}
	if e.Class == imagegen.ClassRateLimited && e.RetryAfter == 0 && json.Unmarshal(f.Body, &said) == nil {
		e.RetryAfter = time.Duration(said.RetryAfter) * time.Second
	}
	return e
}
