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

const (
	defaultBaseURL  = "https://api.bfl.ai/v1"
	defaultModel    = "flux-2-pro"
	defaultName     = "bfl"
	defaultInterval = 500 * time.Millisecond
)

// Config describes the upstream and a model. Only APIKey is required.
type Config struct {
	// APIKey is sent to BaseURL's host, and where that is below bfl.ai to the other hosts there.
	// Required unless Private.
	APIKey imagegen.Secret `yaml:"key"`

	// Name is the upstream's name, shown to callers. "": "bfl".
	Name string

	// BaseURL is where the API lives, up to before the model. https://api.eu.bfl.ai/v1 keeps the work
	// in Europe. "": https://api.bfl.ai/v1.
	BaseURL string

	// Model is the last part of the model's path, whose beginning tells what it takes: flux-3-, flux-2-,
	// flux-kontext- and so on. "": flux-2-pro.
	Model string

	// SizeRules say which sizes the model takes. The zero value: those of its kind. Models of FLUX.3 and
	// Kontext, and FLUX1.1 ultra, have none: they take a ratio.
	SizeRules imagegen.SizeRules

	// MaxReferences is the most reference images; negative: none. 0: what the model takes, which is 10
	// for FLUX.3, 8 for FLUX.2, 4 for its klein models and for Kontext, none for FLUX.1.
	MaxReferences int `zero:"-1"`

	// MaxPrompt is the most characters of a prompt. 0: 32,000.
	MaxPrompt int

	// OutputFormat is png, jpeg or webp; FLUX.3 does not let it be chosen. "": the upstream's choice.
	OutputFormat string

	// SafetyTolerance is from 0, the strictest moderation, to 4 for FLUX.3, 5 for FLUX.2, 6 for the
	// others. nil: the upstream's choice.
	SafetyTolerance *int

	// PollInterval is the time to the first question about a task; it grows up to tenfold. 0: 500 ms.
	PollInterval time.Duration

	// ImageHosts are the only hosts that images are fetched from; "*.example.com" stands for every
	// host below example.com, "example.com:8443" for a port. nil: any; if Private, BaseURL's alone.
	ImageHosts []string

	// Private permits http, and loopback and private addresses: for a gateway of one's own.
	Private bool
}

// Flux2 returns the rules of the FLUX.2 models: edges in multiples of 16 from 256, up to 2048×2048
// pixels, in any shape that imagegen has a ratio for.
func Flux2() imagegen.SizeRules {
	return imagegen.SizeRules{Step: 16, MinEdge: 256, MaxEdge: imagegen.MaxEdge, MaxPixels: 2048 * 2048, MaxAspect: 4}
}

// Flux1 returns the rules of FLUX1.1 [pro] and FLUX.1 [dev]: edges in multiples of 32
// from 256 to 1440. Only the lowest tier is offered; the few sizes beyond it are nearly
// square.
func Flux1() imagegen.SizeRules {
	return imagegen.SizeRules{Step: 32, MinEdge: 256, MaxEdge: 1440, MaxPixels: 1_600_000, MaxAspect: 4}
}

// New returns an error that says what is wrong with c. It makes no request.
func New(c Config) (*Provider, error) {
	c.Name = cmp.Or(c.Name, defaultName)
	c.BaseURL = cmp.Or(c.BaseURL, defaultBaseURL)
	c.Model = cmp.Or(c.Model, defaultModel)
	f := familyOf(c.Model)
	c.MaxReferences = max(0, cmp.Or(c.MaxReferences, f.most))
	c.PollInterval = cmp.Or(c.PollInterval, defaultInterval)
	if err := c.check(f); err != nil {
		return nil, fmt.Errorf("bfl: %w", err)
	}
	c.SizeRules = cmp.Or(c.SizeRules, f.rules)
	p, err := hosted.New(c.describe(hosted.API{Name: c.Name, PerTask: 1, Interval: c.PollInterval,
		Can: f.declare(imagegen.Capabilities{Sizes: f.sizes, SizeRules: c.SizeRules, MaxReferences: c.MaxReferences, MaxPrompt: c.MaxPrompt}),
		Upstream: upstream.Options{BaseURL: c.BaseURL, Key: c.APIKey, KeyHeader: "x-key", KeyHosts: c.keyHosts(),
			ImageHosts: c.ImageHosts, Private: c.Private, Classify: classify}}, f))
	if err != nil {
		return nil, fmt.Errorf("bfl: %w", err)
	}
	return &Provider{p}, nil
}

func (c Config) check(f family) error {
	switch {
	case c.SizeRules != (imagegen.SizeRules{}) && !f.byPixels():
		return fmt.Errorf("the option SizeRules is set, but model %s takes a ratio and no size", c.Model)
	case c.OutputFormat != "" && !f.formats:
		return fmt.Errorf("the option OutputFormat is %q, but model %s does not let it be chosen", c.OutputFormat, c.Model)
	case c.MaxReferences > f.most:
		return fmt.Errorf("the option MaxReferences is %d; for model %s it can be up to %d", c.MaxReferences, c.Model, f.most)
	case !slices.Contains([]string{"", "png", "jpeg", "webp"}, c.OutputFormat):
		return fmt.Errorf("the option OutputFormat is %q; it can be png, jpeg or webp", c.OutputFormat)
	case c.SafetyTolerance != nil && (*c.SafetyTolerance < 0 || *c.SafetyTolerance > f.tolerance):
		return fmt.Errorf("the option SafetyTolerance is %d; for model %s it can be from 0 to %d", *c.SafetyTolerance, c.Model, f.tolerance)
	}
	return nil
}

// keyHosts are the regions that a polling_url may lead to.
func (c Config) keyHosts() []string {
	u, err := url.Parse(c.BaseURL)
	if err != nil || !strings.HasSuffix(strings.ToLower(u.Hostname()), ".bfl.ai") {
		return nil
	}
	return []string{"*.bfl.ai"}
}
