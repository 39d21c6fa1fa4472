package fal

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
	"github.com/imagegend/imagegend/imagegen/provider/internal/template"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Provider makes images with a model on fal. It is safe for concurrent use and keeps no state but idle connections.
// Probe asks for the price of Model at PlatformURL.
type Provider struct{ *hosted.Provider }

// describe adds to an API the requests of fal and what their answers mean. The images are named
// at an address of their own.
func (c Config) describe(a hosted.API, f *template.Filler) hosted.API {
	a.Submit = func(r imagegen.ProviderRequest, size imagegen.Size, d *upstream.Document) (string, any) {
		model := c.Model
		if len(r.References) > 0 {
			model = c.EditModel
		}
		return "/" + model, f.Fill(r, size, d.DataURL)
	}
	a.Accepted = func(read hosted.Answer) (task.Handle, error) {
		var at struct {
			Status   string `json:"status_url"`
			Response string `json:"response_url"`
			Cancel   string `json:"cancel_url"`
		}
		err := read(&at)
		return task.Handle{Status: at.Status, Result: at.Response, Cancel: at.Cancel}, err
	}
	a.Status = func(read hosted.Answer) (task.Progress, error) {
		var now struct{ Status string }
		err := read(&now)
		if err == nil && now.Status == "" {
			err = errors.New("it names no status")
		}
		return task.Progress{Done: now.Status == "COMPLETED"}, err
	}
	a.Response = func(read hosted.Answer) (task.Progress, error) {
		var o output
		err := read(&o)
		return o.progress(), err
	}
	// A documented error in the place of the response is how the request has ended. The request may have cost.
	a.Ended = func(err error) (task.Progress, bool) {
		said, ok := errors.AsType[*upstream.StatusError](err)
		if !ok || kindOf(said.Answer()) == "" {
			return task.Progress{}, false
		}
		units := upstream.Micros(said.Answer().Header.Get(unitsHeader))
		return task.Progress{Done: true, Err: upstream.Unsettled(err), Used: imagegen.UpstreamUsage{Units: units}}, true
	}
	a.UnitsHeader = unitsHeader
	a.CancelMethod = http.MethodPut
	a.Probe = func(ctx context.Context, client *upstream.Client) error {
		address := c.PlatformURL + "/models/pricing?endpoint_id=" + url.QueryEscape(c.Model)
		if err := client.JSON(ctx, http.MethodGet, address, nil, nil); err != nil {
			return fmt.Errorf("asking for the price of model %q: %w", c.Model, err)
		}
		return nil
	}
	return a
}
