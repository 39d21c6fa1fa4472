// Package hosted is a provider over an upstream that takes tasks in, is asked how they stand, and names the images once
// they are done. What one upstream does otherwise than the next stands in its description.
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

// API describes an upstream and a model there.
type API struct {
	Name     string
	Upstream upstream.Options
	Can      imagegen.Capabilities
	PerTask  int // images
	Interval time.Duration

	WhiteMask bool // masks are what upstream.WhiteMask makes of them

	// Submit says where a task for r is started, and with what; d takes the references in.
	Submit func(r imagegen.ProviderRequest, size imagegen.Size, d *upstream.Document) (path string, fields any)

	// Accepted reads the answer to that: where the task is asked about.
	Accepted func(Answer) (task.Handle, error)

	// Status reads how a task stands. An error says that the answer was not understood; it is asked for again.
	Status func(Answer) (task.Progress, error)

	// Response reads the images of a task that is done, at its second address. nil: Status has them.
	Response func(Answer) (task.Progress, error)

	// Ended tells from an error, with which the last of these answers came, how the task ended. nil: no error says that.
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
