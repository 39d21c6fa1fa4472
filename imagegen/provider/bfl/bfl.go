package bfl

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Provider makes images with a FLUX model. It is safe for concurrent use and keeps no state but
// idle connections.
type Provider struct {
	config       Config
	family       family
	capabilities imagegen.Capabilities
	client       *upstream.Client
	runner       *task.Runner
}

var (
	_ imagegen.Provider = (*Provider)(nil)
	_ imagegen.Checker  = (*Provider)(nil)
	_ provider.Prober   = (*Provider)(nil)
)

// Name is the configured one.
func (p *Provider) Name() string { return p.config.Name }

// Capabilities are what the configured sizes allow.
func (p *Provider) Capabilities() imagegen.Capabilities { return p.capabilities }

// Check refuses a size, or a ratio in a tier, that the model cannot make.
func (p *Provider) Check(r imagegen.ProviderRequest) error {
	_, err := p.family.sizes.Choose(r)
	return err
}

// Generate submits a task for each image, or takes up those of r.Job.
func (p *Provider) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return p.client.Redacted(p.runner.Generate(ctx, r))
}

// Probe reports whether the upstream answers, takes the key, and has credits left. It costs nothing.
func (p *Provider) Probe(ctx context.Context) error {
	var account struct{ Credits float64 }
	err := p.client.JSON(ctx, http.MethodGet, "/credits", nil, &account)
	if err == nil && account.Credits <= 0 {
		err = errors.New("the upstream account has no credits left")
	}
	if err != nil {
		return fmt.Errorf("%s: asking for the account's credits: %w", p.config.Name, err)
	}
	return nil
}
