package openai

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

const (
	officialHost   = "api.openai.com"
	defaultBaseURL = "https://" + officialHost + "/v1"
	defaultModel   = "gpt-image-2"
	defaultName    = "openai"
	// maxPerCall is the most images of one call.
	maxPerCall = 10
)

// Config describes an upstream. Only APIKey is required.
type Config struct {
	// APIKey is sent to BaseURL's host and nowhere else. Required unless Private.
	APIKey imagegen.Secret `yaml:"key"`

	// Name is the upstream's name, shown to callers. "": "openai".
	Name string

	// BaseURL is where the API lives, up to before /images; a query is sent with every request.
	// "": https://api.openai.com/v1.
	BaseURL string

	// KeyHeader carries the bare key. "": Authorization, as a bearer token.
	KeyHeader string

	// Organization and Project are sent along if they are set.
	Organization, Project string

	// Model is the upstream's name for the model. Of OpenAI's own models it tells what they take: gpt-image-2.6-flare
	// and the like. "": gpt-image-2.
	Model string

	// Sizes lists all that the model takes, where they are few. nil: every size that SizeRules allow, or, without
	// rules, the three that gpt-image-1, gpt-image-1.5 and their like make.
	Sizes []imagegen.Size

	// SizeRules say which sizes the model takes. The zero value: GPTImage2.
	SizeRules imagegen.SizeRules

	// NoAuto says that the model does not take the size "auto". It is never sent along with Sizes.
	NoAuto bool

	// NoQuality says that the model takes no quality; none is sent.
	NoQuality bool

	// MaxReferences is the most reference images. 0: 16. Negative: none, for there is no /images/edits.
	MaxReferences int `zero:"-1"`

	// MaxPerCall is the most images that one call makes, up to 10; for more, several calls are made
	// at once. 0: 10.
	MaxPerCall int

	// MaxPrompt is the most characters of a prompt. 0: 32,000.
	MaxPrompt int

	// OutputFormat is png, jpeg or webp. "": the upstream's choice.
	OutputFormat string

	// OutputCompression is from 0 to 100, for jpeg and webp. nil: the upstream's choice.
	OutputCompression *int

	// Background is auto, opaque or transparent, which takes png or webp. "": the upstream's choice.
	Background string

	// Moderation is auto or low. "": the upstream's choice.
	Moderation string

	// InputFidelity, low or high, is how closely references are kept to; gpt-image-2 takes none. "": the upstream's
	// choice.
	InputFidelity string

	// Complexity, low, medium or high, is how much gpt-image-2.6 plans before it draws. "": the upstream's choice.
	Complexity string

	// QualityNames are what qualities are called by a model with names of its own, such as max for high from
	// gpt-image-2.5 on.
	QualityNames map[imagegen.Quality]string

	// ImageHosts are the only hosts that images are fetched from, if the upstream answers with URLs;
	// "*.example.com" stands for every host below example.com, "example.com:8443" for a port. nil: any; if
	// Private, BaseURL's alone.
	ImageHosts []string

	// Private permits http, and loopback and private addresses: for an upstream of one's own.
	Private bool
}

// New returns an error that says what is wrong with c. It makes no request.
func New(c Config) (*Provider, error) {
	c.Name = cmp.Or(c.Name, defaultName)
	c.BaseURL = cmp.Or(c.BaseURL, defaultBaseURL)
	c.Model = cmp.Or(c.Model, defaultModel)
	c.MaxReferences = max(0, cmp.Or(c.MaxReferences, imagegen.MaxReferences))
	c.MaxPerCall = cmp.Or(c.MaxPerCall, maxPerCall)
	f := familyOf(c.Model)
	if c.SizeRules == (imagegen.SizeRules{}) {
		c.SizeRules = GPTImage2()
		if c.Sizes == nil {
			c.Sizes = f.sizes
		}
	}
	if err := cmp.Or(c.check(), f.check(c)); err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	client, err := upstream.New(upstream.Options{BaseURL: c.BaseURL, Key: c.APIKey, KeyHeader: c.KeyHeader, Header: c.header(),
		ImageHosts: c.ImageHosts, Private: c.Private, Classify: c.classify()})
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	return &Provider{config: c, capabilities: f.declare(c.capabilities()).WithDefaults(), client: client}, nil
}

func (c Config) check() error {
	switch {
	case c.MaxPerCall < 1 || c.MaxPerCall > maxPerCall:
		return fmt.Errorf("the option MaxPerCall is %d; it can be from 1 to %d", c.MaxPerCall, maxPerCall)
	case !slices.Contains([]string{"", "png", "jpeg", "webp"}, c.OutputFormat):
		return fmt.Errorf("the option OutputFormat is %q; it can be png, jpeg or webp", c.OutputFormat)
	case c.OutputCompression != nil && (*c.OutputCompression < 0 || *c.OutputCompression > 100):
		return fmt.Errorf("the option OutputCompression is %d; it can be from 0 to 100", *c.OutputCompression)
	case c.OutputCompression != nil && c.OutputFormat != "jpeg" && c.OutputFormat != "webp":
		return errors.New("the option OutputCompression takes an OutputFormat of jpeg or webp")
	case !slices.Contains([]string{"", "auto", "opaque", "transparent"}, c.Background):
		return fmt.Errorf("the option Background is %q; it can be auto, opaque or transparent", c.Background)
	case c.Background == "transparent" && c.OutputFormat == "jpeg":
		return errors.New("the option Background is transparent, which OutputFormat jpeg cannot be")
	case !slices.Contains([]string{"", "low", "high"}, c.InputFidelity):
		return fmt.Errorf("the option InputFidelity is %q; it can be low or high", c.InputFidelity)
	case !slices.Contains([]string{"", "low", "medium", "high"}, c.Complexity):
		return fmt.Errorf("the option Complexity is %q; it can be low, medium or high", c.Complexity)
	case !slices.Contains([]string{"", "auto", "low"}, c.Moderation):
		return fmt.Errorf("the option Moderation is %q; it can be auto or low", c.Moderation)
	}
	return c.capabilities().Validate()
}

func (c Config) header() http.Header {
	h := http.Header{}
	for name, value := range map[string]string{"OpenAI-Organization": c.Organization, "OpenAI-Project": c.Project} {
		if value != "" {
			h.Set(name, value)
		}
	}
	return h
}
