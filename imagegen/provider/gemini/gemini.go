package gemini

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Provider makes images with the Gemini API. It is safe for concurrent use and keeps no state but
// idle connections.
type Provider struct {
	config  Config
	client  *upstream.Client
	can     imagegen.Capabilities
	choices map[imagegen.Size]choice // for each size that can has
}

var (
	_ imagegen.Provider = (*Provider)(nil)
	_ provider.Prober   = (*Provider)(nil)
)

// Name is the configured name.
func (p *Provider) Name() string { return p.config.Name }

// Capabilities are what the configured sizes and tiers allow.
func (p *Provider) Capabilities() imagegen.Capabilities { return p.can }

// Generate makes one call for each image, all at once. The quality changes nothing, since the models have none. An
// image that moderation refuses is an error of imagegen.ClassRefused.
func (p *Provider) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return p.client.Redacted(ctx, func(yield upstream.Yield) error { return upstream.FanIn(ctx, r, 1, yield, p.call) })
}

// call is an upstream.Call: it asks for one image.
func (p *Provider) call(ctx context.Context, _ int, r imagegen.ProviderRequest, yield upstream.Yield) error {
	o, err := p.choose(r)
	if err != nil {
		return err
	}
	body, err := p.config.body(r, o)
	if err != nil {
		return err
	}
	a := answer{request: r, yield: yield}
	return p.client.Read(ctx, http.MethodPost, p.path()+":generateContent", body, func(in io.Reader) error {
		return a.decode(ctx, in)
	})
}

func (p *Provider) path() string { return "/models/" + url.PathEscape(p.config.Model) }

// Probe reports whether the upstream answers, accepts the key and knows the model. It costs nothing. With a Token it
// counts the tokens of a text, since Vertex AI has no other request about a model that is free.
func (p *Provider) Probe(ctx context.Context) error {
	var err error
	if p.config.Token == nil {
		err = p.client.JSON(ctx, http.MethodGet, p.path(), nil, nil)
	} else {
		err = p.client.JSON(ctx, http.MethodPost, p.path()+":countTokens",
			map[string]any{"contents": contents(map[string]any{"text": "a"})}, nil)
	}
	if err != nil {
		return fmt.Errorf("%s: asking for model %q: %w", p.config.Name, p.config.Model, err)
	}
	return nil
}
