package gemini

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

const (
	officialHost   = "generativelanguage.googleapis.com"
	defaultBaseURL = "https://" + officialHost + "/v1beta"
	maxReferences  = 14 // of the models of generation 3
)

// Config describes the upstream. Only APIKey is required.
type Config struct {
	// APIKey is sent to BaseURL's host and nowhere else. Required unless Private.
	APIKey imagegen.Secret

	// Token returns an access token that is sent instead of APIKey, as a bearer token. It is for Vertex AI, see
	// package vertex. It is called before each request, and must be safe for concurrent use. If it fails, no request
	// is made; its error should be a *imagegen.ProviderError. nil: APIKey is sent.
	Token func(context.Context) (imagegen.Secret, error)

	// Name is the upstream's name, shown to callers. "": "gemini".
	Name string

	// BaseURL is the address of the API, without /models. "": https://generativelanguage.googleapis.com/v1beta.
	BaseURL string

	// Model is the upstream's name for the model. "": gemini-3-pro-image.
	Model string

	// Sizes are the sizes that the model makes, each in tier 1K. nil: Gemini3.
	Sizes Sizes

	// Tiers are the tiers that the model makes. If that is 1K alone, requests name no image size. nil: all.
	Tiers []imagegen.Tier

	// MaxReferences is the most reference images, up to 14. 0: 14. Negative: none.
	MaxReferences int

	// Private permits http, and loopback and private addresses. It is for a gateway that the operator runs.
	Private bool
}

// New returns an error that says what is wrong with c. It makes no request.
func New(c Config) (*Provider, error) {
	c.Name = cmp.Or(c.Name, "gemini")
	c.BaseURL = cmp.Or(c.BaseURL, defaultBaseURL)
	c.Model = cmp.Or(c.Model, "gemini-3-pro-image")
	c.MaxReferences = max(0, cmp.Or(c.MaxReferences, maxReferences))
	if c.Sizes == nil {
		c.Sizes = Gemini3()
	}
	if c.Tiers == nil {
		c.Tiers = imagegen.Tiers()
	}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("gemini: %w", err)
	}
	o := upstream.Options{BaseURL: c.BaseURL, Key: c.APIKey, KeyHeader: "x-goog-api-key", Private: c.Private,
		Classify: c.classify()}
	if c.Token != nil {
		o.Key, o.Token, o.KeyHeader, o.KeyPrefix = "", c.Token, "Authorization", "Bearer "
	}
	client, err := upstream.New(o)
	if err != nil {
		return nil, fmt.Errorf("gemini: %w", err)
	}
	return &Provider{config: c, client: client, can: c.capabilities(), choices: c.choices()}, nil
}

func (c Config) validate() error {
	switch {
	case c.MaxReferences > maxReferences:
		return fmt.Errorf("the option MaxReferences is %d; it can be up to %d", c.MaxReferences, maxReferences)
	case len(c.ratios()) == 1:
		return errors.New("the option Sizes holds no size that fits its ratio")
	case len(c.Tiers) == 0:
		return errors.New("the option Tiers is empty; leave it out for all")
	}
	for ratio, z := range c.Sizes {
		if z.Auto() || !z.Valid() || imagegen.TierOf(z.Area()) != imagegen.Tier1K {
			return fmt.Errorf("the option Sizes holds %v for %s; sizes are those of tier %s", z, ratio, imagegen.Tier1K)
		}
	}
	for _, t := range c.Tiers {
		if !slices.Contains(imagegen.Tiers(), t) {
			return fmt.Errorf("the option Tiers holds %q; there are %v", t, imagegen.Tiers())
		}
	}
	return nil
}
