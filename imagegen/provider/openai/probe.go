package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Probe reports whether the upstream answers, accepts the key and knows the model. It costs nothing. If the upstream
// only has a list of models and this one is not in it, the error is [provider.ErrUnconfirmed], since Azure does not
// list deployments and others do not list aliases.
func (p *Provider) Probe(ctx context.Context) error {
	err := p.client.JSON(ctx, http.MethodGet, "/models/"+url.PathEscape(p.config.Model), nil, nil)
	if answered, ok := errors.AsType[*upstream.StatusError](err); ok && answered.Status == http.StatusNotFound {
		err = p.fetchModel(ctx, err)
	}
	if err != nil {
		return fmt.Errorf("%s: asking for model %q: %w", p.config.Name, p.config.Model, err)
	}
	return nil
}

// fetchModel looks for the model in the list of all models. It is for servers such as LocalAI and stable-diffusion.cpp,
// which have no address for one model (mudler/LocalAI, core/http/routes/openai.go; leejet/stable-diffusion.cpp,
// examples/server/routes_openai.cpp). missing is the error of that address: if the upstream itself says there that it
// does not know the model, look returns missing.
func (p *Provider) fetchModel(ctx context.Context, missing error) error {
	if e, ok := errors.AsType[*imagegen.ProviderError](missing); ok && e.Message == noModel {
		return missing
	}
	var list struct{ Data []struct{ ID string } }
	if err := p.client.JSON(ctx, http.MethodGet, "/models", nil, &list); err != nil {
		return err
	}
	var ids []string
	for _, m := range list.Data {
		ids = append(ids, m.ID)
	}
	if !slices.Contains(ids, p.config.Model) {
		return fmt.Errorf("%w; it lists %.300q", provider.ErrUnconfirmed, ids)
	}
	return nil
}
