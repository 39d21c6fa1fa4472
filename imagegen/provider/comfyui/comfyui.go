package comfyui

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Provider makes images with workflows of ComfyUI. It is safe for concurrent use and keeps no state
// but idle connections.
type Provider struct {
	config    Config
	workflows map[takes]workflow
	client    *upstream.Client
	canvas    upstream.Canvas
	can       imagegen.Capabilities
}

var (
	_ imagegen.Provider = (*Provider)(nil)
	_ provider.Prober   = (*Provider)(nil)
)

// Name is the configured name.
func (p *Provider) Name() string { return p.config.Name }

// Capabilities are every ratio and tier, and as many references, with or without a mask,
// as one of the workflows takes.
func (p *Provider) Capabilities() imagegen.Capabilities { return p.can }

// Generate submits the workflow that takes r's references and mask, as often as needed, and yields the pictures that
// it saves. If r.Job names prompts, it waits for those, and submits only those that are missing. It cancels what it
// has submitted if the context ends or no more images are wanted, unless another attempt will continue.
func (p *Provider) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return p.client.Redacted(ctx, func(yield upstream.Yield) error {
		a := &attempt{Provider: p, request: r, yield: yield}
		return a.run(ctx)
	})
}

// Probe reports whether ComfyUI answers and has every kind of node that the workflows use. It
// does not look for models.
func (p *Provider) Probe(ctx context.Context) error {
	if err := p.client.JSON(ctx, http.MethodGet, "/system_stats", nil, nil); err != nil {
		return fmt.Errorf("%s: asking for the system's state: %w", p.config.Name, err)
	}
	classes := map[string]bool{}
	for _, w := range p.workflows {
		for _, class := range w.classes {
			classes[class] = true
		}
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		var known map[string]any
		if err := p.client.JSON(ctx, http.MethodGet, "/object_info/"+url.PathEscape(class), nil, &known); err != nil {
			return fmt.Errorf("%s: asking for node %q: %w", p.config.Name, class, err)
		}
		if known[class] == nil {
			return fmt.Errorf("%s: ComfyUI has no node %q, which a workflow uses; install what brings it",
				p.config.Name, class)
		}
	}
	return nil
}
