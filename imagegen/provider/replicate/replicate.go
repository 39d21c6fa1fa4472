package replicate

import (
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
	"github.com/imagegend/imagegend/imagegen/provider/internal/template"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Provider makes images with a model on Replicate. It is safe for concurrent use and keeps no state
// but idle connections.
type Provider struct {
	config       Config
	target       target
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

// Generate creates as many predictions as the images take, or takes up those of r.Job.
func (p *Provider) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return p.client.Redacted(p.runner.Generate(ctx, r))
}

// Probe reports whether the upstream answers, takes the key and knows the model. It costs nothing.
func (p *Provider) Probe(ctx context.Context) error {
	if err := p.client.JSON(ctx, http.MethodGet, p.target.show, nil, nil); err != nil {
		return fmt.Errorf("%s: asking for %s: %w", p.config.Name, p.target.show, err)
	}
	return nil
}
