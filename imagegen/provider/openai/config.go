package openai

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

const (
	officialHost   = "api.openai.com"
	defaultBaseURL = "https://" + officialHost + "/v1"
	// maxPerCall is the most images of one call, by OpenAI's API reference.
	maxPerCall = 10
)

// Config describes an upstream. Only APIKey is required.
type Config struct {
	// APIKey is sent to BaseURL's host and nowhere else. Required unless Private.
	APIKey imagegen.Secret

	// Name is the upstream's name, shown to callers. "": "openai".
	Name string

	// BaseURL is the address of the API, without /images. If it has a query, that is sent with
	// every request. "": https://api.openai.com/v1.
	BaseURL string

	// KeyHeader is the header in which the bare key is sent. "": the key is sent as a bearer token in Authorization.
	KeyHeader string

	// Organization and Project are sent in the headers OpenAI-Organization and OpenAI-Project. "": not sent.
	Organization, Project string

	// Model is the upstream's name for the model. If it is the name of one of OpenAI's models, or begins with one as
	// gpt-image-2.6-flare does, it also says what the model takes. "": gpt-image-2.
	Model string

	// Sizes lists all sizes that the model makes, if they are few. nil: every size that
	// SizeRules allow. If Model is gpt-image-1, gpt-image-1.5 or another of that age and
	// SizeRules are not set either: the three sizes that it makes.
	Sizes []imagegen.Size

	// SizeRules say which sizes the model takes. The zero value: GPTImage2.
	SizeRules imagegen.SizeRules

	// NoAuto says that the model does not take the size "auto". With Sizes, "auto" is never sent.
	NoAuto bool

	// NoQuality says that the model does not take a quality. None is sent then.
	NoQuality bool

	// MaxReferences is the most reference images, up to 16. 0: 16. Negative: none, for a
	// service without /images/edits.
	MaxReferences int

	// MaxPerCall is the most images that one call makes, up to 10; for more, several calls are made
	// at once. 0: 10.
	MaxPerCall int

	// MaxPrompt is the most characters of a prompt. 0: 32,000.
	MaxPrompt int

	// OutputFormat is png, jpeg or webp, for requests that ask for no format. "": the upstream's choice.
	OutputFormat string

	// OutputCompression is from 0 to 100, for an OutputFormat of jpeg or webp. nil: the upstream's choice.
	OutputCompression *int

	// Background is auto, opaque or transparent, for requests that ask for none. transparent does not go with the
	// OutputFormat jpeg. "": the upstream's choice.
	Background string

	// Moderation is auto or low. "": the upstream's choice.
	Moderation string

	// InputFidelity, low or high, is how closely an image follows its references. gpt-image-2 does
	// not take it, and gpt-image-1-mini takes low alone. "": the upstream's choice.
	InputFidelity string

	// Complexity, low, medium or high, is how much gpt-image-2.6 plans before it draws. Earlier models do not take
	// it. "": the upstream's choice.
	Complexity string

	// QualityNames are the upstream's names for qualities, if they differ: from gpt-image-2.5
	// on, high can be called xhigh or max.
	QualityNames map[imagegen.Quality]string

	// ImageHosts are the only hosts that images are fetched from, if the upstream answers with
	// URLs. "*.example.com" stands for every host below example.com; a port is written
	// "example.com:8443". nil: any public host, but only BaseURL's if Private.
	ImageHosts []string

	// Private permits http, and loopback and private addresses. It is for an upstream that the operator runs.
	Private bool
}

// New returns an error that says what is wrong with c. It makes no request.
func New(c Config) (*Provider, error) {
	c.Name = cmp.Or(c.Name, "openai")
	c.BaseURL = cmp.Or(c.BaseURL, defaultBaseURL)
	c.Model = cmp.Or(c.Model, "gpt-image-2")
	c.MaxReferences = max(0, cmp.Or(c.MaxReferences, imagegen.MaxReferences))
	c.MaxPerCall = cmp.Or(c.MaxPerCall, maxPerCall)
	f := familyOf(c.Model)
	if c.SizeRules == (imagegen.SizeRules{}) {
		c.SizeRules = GPTImage2()
		if c.Sizes == nil {
			c.Sizes = f.sizes
		}
	}
	if err := cmp.Or(c.validate(), f.validateConfig(c)); err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	headers := map[string]string{"OpenAI-Organization": c.Organization, "OpenAI-Project": c.Project}
	maps.DeleteFunc(headers, func(_, value string) bool { return value == "" })
	client, err := upstream.New(upstream.Options{BaseURL: c.BaseURL, Key: c.APIKey, KeyHeader: c.KeyHeader,
		Headers: headers, ImageHosts: c.ImageHosts, Private: c.Private, Classify: c.classify()})
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	return &Provider{config: c, capabilities: f.declare(c.capabilities()).WithDefaults(), client: client}, nil
}

func (c Config) validate() error {
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
