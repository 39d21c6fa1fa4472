package bfl

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Config describes the upstream and a model. Only APIKey is required.
type Config struct {
	// APIKey is sent to BaseURL's host, and where that is below bfl.ai to the other hosts there.
	// Required unless Private.
	APIKey imagegen.Secret

	// Name is the upstream's name, shown to callers. "": "bfl".
	Name string

	// BaseURL is the address of the API, without the model. With https://api.eu.bfl.ai/v1 the
	// work is done in Europe. "": https://api.bfl.ai/v1.
	BaseURL string

	// Model is the last part of the model's path. Its beginning says what the model takes: flux-3-, flux-2-,
	// flux-kontext- and so on; an unknown model is taken for one of FLUX.2. "": flux-2-pro.
	Model string

	// SizeRules say which sizes the model takes. The zero value: Flux2 or Flux1, as the model's name tells. They
	// cannot be set for FLUX.3, Kontext and FLUX1.1 ultra, which take a ratio.
	SizeRules imagegen.SizeRules

	// MaxReferences is the most reference images, up to what the model takes: 10 for FLUX.3, 8 for FLUX.2, 4 for its
	// klein models and for Kontext, none for FLUX.1. 0: all of them. Negative: none.
	MaxReferences int

	// MaxPrompt is the most characters of a prompt. 0: 32,000.
	MaxPrompt int

	// OutputFormat is png, jpeg or webp, for requests that ask for no format. For FLUX.3 it
	// cannot be set. "": the upstream's choice.
	OutputFormat string

	// SafetyTolerance is from 0, the strictest moderation, to 4 for FLUX.3, 5 for FLUX.2, 6 for the
	// others. nil: the upstream's choice.
	SafetyTolerance *int

	// PollInterval is the pause before the first poll of a task; later pauses grow to ten times that. 0: 500 ms.
	PollInterval time.Duration

	// ImageHosts are the only hosts that images are fetched from. "*.example.com" stands for every host below
	// example.com; a port is written "example.com:8443". nil: any public host, but only BaseURL's if Private.
	ImageHosts []string

	// Private permits http, and loopback and private addresses. It is for a gateway that the operator runs.
	Private bool
}

// Flux2 returns the rules of the FLUX.2 models (docs.bfl.ai): edges in multiples of 16 from 256 pixels, up to
// 2048×2048 pixels in all, and a shape of up to 4:1, which is beyond every ratio of imagegen.
func Flux2() imagegen.SizeRules {
	return imagegen.SizeRules{Step: 16, MinEdge: 256, MaxEdge: imagegen.MaxEdge, MaxPixels: 2048 * 2048, MaxAspect: 4}
}

// Flux1 returns the rules of FLUX1.1 [pro] and FLUX.1 [dev] (docs.bfl.ai): edges in multiples
// of 32 from 256 to 1440 pixels. A limit of 1.6 million pixels keeps them to tier 1K: of 2K
// they make only a few sizes that are nearly square.
func Flux1() imagegen.SizeRules {
	return imagegen.SizeRules{Step: 32, MinEdge: 256, MaxEdge: 1440, MaxPixels: 1_600_000, MaxAspect: 4}
}

// New returns an error that says what is wrong with c. It makes no request.
func New(c Config) (*Provider, error) {
	c.Name = cmp.Or(c.Name, "bfl")
	c.BaseURL = cmp.Or(c.BaseURL, "https://api.bfl.ai/v1")
	c.Model = cmp.Or(c.Model, "flux-2-pro")
	f := familyOf(c.Model)
	c.MaxReferences = max(0, cmp.Or(c.MaxReferences, f.most))
	if err := c.validateFor(f); err != nil {
		return nil, fmt.Errorf("bfl: %w", err)
	}
	c.SizeRules = cmp.Or(c.SizeRules, f.rules)
	p, err := hosted.New(c.describe(hosted.API{Name: c.Name, PerTask: 1, Interval: c.PollInterval,
		Can: f.declare(imagegen.Capabilities{Sizes: f.sizes, SizeRules: c.SizeRules, MaxReferences: c.MaxReferences,
			MaxPrompt: c.MaxPrompt}),
		Upstream: upstream.Options{BaseURL: c.BaseURL, Key: c.APIKey, KeyHeader: "x-key", KeyHosts: c.keyHosts(),
			ImageHosts: c.ImageHosts, Private: c.Private}}, f))
	if err != nil {
		return nil, fmt.Errorf("bfl: %w", err)
	}
	return &Provider{p}, nil
}

// validateFor refuses what the family f of the model does not take. SizeRules are those that were
// configured, before f's own.
func (c Config) validateFor(f family) error {
	switch {
	case c.SizeRules != (imagegen.SizeRules{}) && !f.byPixels():
		return fmt.Errorf("the option SizeRules is set, but model %s takes a ratio and no size", c.Model)
	case c.OutputFormat != "" && !f.formats:
		return fmt.Errorf("the option OutputFormat is %q, but model %s does not let it be chosen", c.OutputFormat,
			c.Model)
	case c.MaxReferences > f.most:
		return fmt.Errorf("the option MaxReferences is %d; for model %s it can be up to %d", c.MaxReferences, c.Model,
			f.most)
	case !slices.Contains([]string{"", "png", "jpeg", "webp"}, c.OutputFormat):
		return fmt.Errorf("the option OutputFormat is %q; it can be png, jpeg or webp", c.OutputFormat)
	case c.SafetyTolerance != nil && (*c.SafetyTolerance < 0 || *c.SafetyTolerance > f.tolerance):
		return fmt.Errorf("the option SafetyTolerance is %d; for model %s it can be from 0 to %d", *c.SafetyTolerance,
			c.Model, f.tolerance)
	}
	return nil
}

// keyHosts are the hosts of all regions, to which a polling_url may lead. A gateway with a name of its own gets none.
func (c Config) keyHosts() []string {
	u, err := url.Parse(c.BaseURL)
	if err != nil || !strings.HasSuffix(strings.ToLower(u.Hostname()), ".bfl.ai") {
		return nil
	}
	return []string{"*.bfl.ai"}
}
