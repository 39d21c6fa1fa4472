// Package hosted is a provider over an upstream that accepts tasks, is polled for their progress, and names the images
// once they are done. An [API] describes what differs between such upstreams: requests, answers and errors. Package
// task decides when the upstream is asked, and package upstream how.
package hosted

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
	"github.com/imagegend/imagegend/imagegen/provider/internal/template"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// API describes an upstream and a model there. Its functions must be safe for concurrent use. Submit, Accepted, Status
// and Probe are required.
type API struct {
	Name     string // the provider's; a job that is saved under another one is not continued
	Upstream upstream.Options
	Can      imagegen.Capabilities // New sets Verify and the defaults
	PerTask  int                   // the most images of a task, at least 1
	Interval time.Duration         // before the first poll of a task, as in task.Runner; 0: 500 ms

	WhiteMask bool // Submit gets masks as upstream.WhiteMask converts them

	// Submit returns the path at which a task for r is started, and the JSON fields to send. size is what Can chose
	// for r. d makes the placeholders for references in the fields.
	Submit func(r imagegen.ProviderRequest, size imagegen.Size, d *upstream.Document) (path string, fields any)

	// Accepted reads the addresses of the task, and its price, from the answer to a submission. It leaves those empty
	// that the answer does not name. Errors are those of Answer.
	Accepted func(Answer) (task.Handle, error)

	// Status reads the progress of a task from an answer at Handle.Status. An error means that the answer was not
	// understood; the task is polled again.
	Status func(Answer) (task.Progress, error)

	// Response reads the images of a task that Status calls done, from the answer at
	// Handle.Result. nil: Status reads them.
	Response func(Answer) (task.Progress, error)

	// Ended reports whether an error of Response's request, or of Status's if Response is nil, says that the task has
	// ended, and how. nil: no error does.
	Ended func(error) (task.Progress, bool)

	// UnitsHeader is the header of the answer that ends a task in which the upstream says how many units the task has
	// used. "": there is none.
	UnitsHeader string

	// CancelMethod is the method of a request to Handle.Cancel, which cancels the task. Not
	// needed if Accepted never sets that address.
	CancelMethod string

	// Probe is that of provider.Prober, but its errors need not name the provider.
	Probe func(context.Context, *upstream.Client) error
}

// Of returns a with what f says of the model. Submit gets f's input by its Fill.
func (a API) Of(f *template.Filler) API {
	a.Can, a.PerTask, a.WhiteMask = f.Can, f.MaxPerCall, f.WhiteMask()
	return a
}

// Answer reads a JSON answer into v. It can be called once. Its errors are those of upstream.Decode.
type Answer func(v any) error

// Provider makes images with a hosted model. It is safe for concurrent use and keeps no state but idle connections.
type Provider struct {
	api    API
	client *upstream.Client
	runner *task.Runner
}

var (
	_ imagegen.Provider = (*Provider)(nil)
	_ provider.Prober   = (*Provider)(nil)
)

// New returns an error that says which option is wrong. It makes no request.
func New(a API) (*Provider, error) {
	if a.Interval < 0 {
		return nil, fmt.Errorf("the option PollInterval is %v; it cannot be negative", a.Interval)
	}
	if err := a.Can.Validate(); err != nil {
		return nil, err
	}
	client, err := upstream.New(a.Upstream)
	if err != nil {
		return nil, err
	}
	a.Interval = cmp.Or(a.Interval, 500*time.Millisecond)
	a.Can.Verify = imagegen.VerifyStructure
	a.Can = a.Can.WithDefaults()
	p := &Provider{api: a, client: client}
	p.runner = &task.Runner{Queue: queue{p}, Name: a.Name, PerTask: a.PerTask, Interval: a.Interval}
	return p, nil
}

// Name is the configured name.
func (p *Provider) Name() string { return p.api.Name }

// Capabilities are what the configured sizes allow.
func (p *Provider) Capabilities() imagegen.Capabilities { return p.api.Can }

// Generate submits as many tasks as the images take, or continues those of r.Job. It yields
// images in the order in which tasks are done.
func (p *Provider) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return p.client.Redacted(ctx, func(yield upstream.Yield) error { return p.runner.Generate(ctx, r, yield) })
}

// Probe reports whether the upstream answers, accepts the key and knows the model, as far as it
// tells. It costs nothing.
func (p *Provider) Probe(ctx context.Context) error {
	if err := p.api.Probe(ctx, p.client); err != nil {
		return fmt.Errorf("%s: %w", p.api.Name, err)
	}
	return nil
}
