// Package hosted is a provider over an upstream that accepts tasks, is polled for their progress, and names the images
// once they are done. An [API] describes what differs between such upstreams: requests, answers and errors. Package task
// decides when the upstream is asked, and package upstream how.
package hosted

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// API describes an upstream and a model there. Its functions must be safe for concurrent use. Submit, Accepted, Status
// and Probe are required.
type API struct {
	Name     string
	Upstream upstream.Options
	Can      imagegen.Capabilities
	PerTask  int // images
	Interval time.Duration

	WhiteMask bool // masks are what upstream.WhiteMask makes of them

	// Submit returns where a task for r is started, and the JSON fields to send. d makes placeholders for references.
	Submit func(r imagegen.ProviderRequest, size imagegen.Size, d *upstream.Document) (path string, fields any)

	// Accepted reads the answer to a submission: the addresses of the task.
	Accepted func(Answer) (task.Handle, error)

	// Status reads the progress of a task. An error means that the answer was not understood; the task is polled again.
	Status func(Answer) (task.Progress, error)

	// Response reads the images of a task that is done, at its second address. nil: Status has them.
	Response func(Answer) (task.Progress, error)

	// Ended derives from an error of the last of these requests how the task ended, if the error says so. nil: no error
	// does.
	Ended func(error) (task.Progress, bool)

	// CancelMethod is used at the address that Accepted says. "": there is no way to cancel.
	CancelMethod string

	// Probe finds out whether the upstream answers, takes the key and knows the model. It costs nothing.
	Probe func(context.Context, *upstream.Client) error
}

// Answer reads a JSON answer into v.
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
	a.Can.Verify = imagegen.VerifyStructure
	a.Can = a.Can.WithDefaults()
	p := &Provider{api: a, client: client}
	p.runner = &task.Runner{Queue: queue{p}, Name: a.Name, PerTask: a.PerTask, Interval: a.Interval}
	return p, nil
}

// Name is the configured one.
func (p *Provider) Name() string { return p.api.Name }

// Capabilities are what the configured sizes allow.
func (p *Provider) Capabilities() imagegen.Capabilities { return p.api.Can }

// Generate submits as many tasks as the images take, or takes up those of r.Job.
func (p *Provider) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return p.client.Redacted(p.runner.Generate(ctx, r))
}

// Probe reports whether the upstream answers, takes the key and knows the model. It costs nothing.
func (p *Provider) Probe(ctx context.Context) error {
	if err := p.api.Probe(ctx, p.client); err != nil {
		return fmt.Errorf("%s: %w", p.api.Name, err)
	}
	return nil
}
