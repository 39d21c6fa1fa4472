package webapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/template"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Provider makes images with a web API. It is safe for concurrent use and keeps no state but idle
// connections.
type Provider struct {
	config       Config
	plain, edit  *template.Filler // without references, and with them
	capabilities imagegen.Capabilities
	client       *upstream.Client
}

var (
	_ imagegen.Provider = (*Provider)(nil)
	_ provider.Prober   = (*Provider)(nil)
)

// Name is the configured name.
func (p *Provider) Name() string { return p.config.Name }

// Capabilities are what the configured sizes allow.
func (p *Provider) Capabilities() imagegen.Capabilities { return p.capabilities }

// Generate makes as many calls as the images take, all at once. If the API has an Upload, it first stores the
// references and the mask there, once for all calls.
func (p *Provider) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return p.client.Redacted(ctx, func(yield upstream.Yield) (err error) {
		if p.edit.WhiteMask() {
			if r.Mask, err = upstream.WhiteMask(ctx, r.Mask); err != nil {
				return err
			}
		}
		if p.config.Upload.Path != "" {
			if err := p.uploadAll(ctx, &r); err != nil {
				return err
			}
		}
		return upstream.FanIn(ctx, r, p.config.MaxPerCall, yield, p.call)
	})
}

// call is an upstream.Call: it makes one request. The references and the mask of r are ready to be sent.
func (p *Provider) call(ctx context.Context, _ int, r imagegen.ProviderRequest, yield upstream.Yield) error {
	path, body, err := p.request(r)
	if err != nil {
		return err
	}
	a := answer{Provider: p, Found: upstream.Found{N: r.N, Yield: yield}, request: r}
	return p.client.Read(ctx, http.MethodPost, path, body, func(in io.Reader) error { return a.decode(ctx, in) })
}

// Probe reads the configured path, and reports whether the API answers and accepts the key. Without a path it reads
// the base URL: the error is [provider.ErrUnconfirmed] if the server answers, unless it answers with 401.
func (p *Provider) Probe(ctx context.Context) error {
	if p.config.Probe != "" {
		if err := p.client.JSON(ctx, http.MethodGet, p.config.Probe, nil, nil); err != nil {
			return fmt.Errorf("%s: asking for %s: %w", p.config.Name, p.config.Probe, err)
		}
		return nil
	}
	err := p.client.Read(ctx, http.MethodGet, "/", nil, func(io.Reader) error { return nil })
	if e, answered := errors.AsType[*upstream.StatusError](err); err == nil || answered &&
		e.Status != http.StatusUnauthorized {
		return fmt.Errorf("%s: %w; nothing to ask for is configured", p.config.Name, provider.ErrUnconfirmed)
	}
	return fmt.Errorf("%s: %w", p.config.Name, err)
}
