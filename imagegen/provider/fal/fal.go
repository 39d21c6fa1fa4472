package fal

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
	"github.com/imagegend/imagegend/imagegen/provider/internal/template"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Provider makes images with a model on fal. It is safe for concurrent use and keeps no state but
// idle connections.
type Provider struct {
	config       Config
	filler       *template.Filler
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
func (p *Provider) Check(r imagegen.ProviderRequest) error { return p.filler.Check(r) }

// Generate submits as many requests as the images take, or takes up those of r.Job.
func (p *Provider) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return p.client.Redacted(p.runner.Generate(ctx, r))
}

// Probe reports whether the platform answers, takes the key and has a price for the model. It costs
// nothing.
func (p *Provider) Probe(ctx context.Context) error {
	address := p.config.PlatformURL + "/models/pricing?endpoint_id=" + url.QueryEscape(p.config.Model)
	if err := p.client.JSON(ctx, http.MethodGet, address, nil, nil); err != nil {
		return fmt.Errorf("%s: asking for the price of model %q: %w", p.config.Name, p.config.Model, err)
	}
	return nil
}
