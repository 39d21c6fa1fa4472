package openai

import (
	"context"
	"io"
	"iter"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Provider makes images with an upstream that speaks OpenAI's protocol. It is safe for concurrent
// use and keeps no state but idle connections.
type Provider struct {
	config       Config
	capabilities imagegen.Capabilities
	client       *upstream.Client
}

var (
	_ imagegen.Provider = (*Provider)(nil)
	_ provider.Prober   = (*Provider)(nil)
)

// Name is the configured name.
func (p *Provider) Name() string { return p.config.Name }

// Capabilities are what the configuration and the model's name allow.
func (p *Provider) Capabilities() imagegen.Capabilities { return p.capabilities }

// Generate asks for all images in one call, or for MaxPerCall in each of several calls that run at once.
func (p *Provider) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return p.client.Redacted(ctx, func(yield upstream.Yield) error {
		return upstream.FanIn(ctx, r, p.config.MaxPerCall, yield, p.call)
	})
}

// call is an upstream.Call: it makes one request, for at most MaxPerCall images.
func (p *Provider) call(ctx context.Context, _ int, r imagegen.ProviderRequest, yield upstream.Yield) error {
	path, body, err := p.request(r)
	if err != nil {
		return err
	}
	a := answer{Found: upstream.Found{N: r.N, Yield: yield}, request: r}
	return p.client.Read(ctx, http.MethodPost, path, body, func(in io.Reader) error {
		return a.decode(ctx, p.client, in)
	})
}
