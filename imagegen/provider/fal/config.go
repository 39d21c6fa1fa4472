package fal

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted"
	"github.com/imagegend/imagegend/imagegen/provider/internal/template"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

const defaultPlatformURL = "https://api.fal.ai/v1"

// Config describes a model on fal. APIKey, Model and one of Sizes and SizeRules are required.
type Config struct {
	// APIKey is sent to the hosts of BaseURL and PlatformURL and nowhere else. Required unless Private.
	APIKey imagegen.Secret

	// Name is the upstream's name, shown to callers. "": "fal".
	Name string

	// BaseURL is the address of the queue. "": https://queue.fal.run.
	BaseURL string

	// PlatformURL is where Probe asks for the model. "": https://api.fal.ai/v1.
	PlatformURL string

	// Model is the model's id, such as fal-ai/flux-2-pro. Required.
	Model string

	// EditModel is the model for requests with reference images. "": Model.
	EditModel string

	// Template is the model. If its Input is nil, that has prompt, image_size with width and height, image_urls if
	// there can be references, and num_images if MaxPerCall is more than 1.
	provider.Template

	// PollInterval is the pause before the first poll of a request; later pauses grow to ten times that. 0: 500 ms.
	PollInterval time.Duration

	// ImageHosts are the only hosts that images are fetched from. "*.example.com" stands for every host below
	// example.com; a port is written "example.com:8443". nil: any public host, but only BaseURL's if Private.
	ImageHosts []string

	// Private permits http, and loopback and private addresses. It is for a gateway that the operator runs.
	Private bool
}

// New returns an error that says what is wrong with c. It makes no request.
func New(c Config) (*Provider, error) {
	c.Name = cmp.Or(c.Name, "fal")
	c.BaseURL = cmp.Or(c.BaseURL, "https://queue.fal.run")
	c.PlatformURL = cmp.Or(c.PlatformURL, defaultPlatformURL)
	c.EditModel = cmp.Or(c.EditModel, c.Model)
	if c.Input == nil {
		c.Input = c.usualInput()
	}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("fal: %w", err)
	}
	f, err := template.New(template.ModelOf(c.Template))
	if err != nil {
		return nil, fmt.Errorf("fal: %w", err)
	}
	p, err := hosted.New(c.describe(hosted.API{Name: c.Name, Interval: c.PollInterval,
		Upstream: upstream.Options{BaseURL: c.BaseURL, Key: c.APIKey, KeyHeader: "Authorization", KeyPrefix: "Key ",
			KeyHosts: c.keyHosts(), ImageHosts: c.ImageHosts, Private: c.Private, Classify: classify}}.Of(f), f))
	if err != nil {
		return nil, fmt.Errorf("fal: %w", err)
	}
	return &Provider{p}, nil
}

// usualInput is the Input of the many models whose fields have these names.
func (c Config) usualInput() map[string]any {
	input := map[string]any{"prompt": template.Prompt, "image_size": map[string]any{"width": template.Width,
		"height": template.Height}}
	if c.MaxReferences > 0 {
		input["image_urls"] = template.References
	}
	if c.MaxPerCall > 1 {
		input["num_images"] = template.N
	}
	return input
}

// modelPath keeps from the path of a request what would change its meaning, such as a query.
var modelPath = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)+$`)

func (c Config) validate() error {
	switch {
	case !modelPath.MatchString(c.Model):
		return fmt.Errorf("the option Model is %q; want one such as fal-ai/flux-2-pro", c.Model)
	case !modelPath.MatchString(c.EditModel):
		return fmt.Errorf("the option EditModel is %q; want one such as fal-ai/flux-2-pro/edit", c.EditModel)
	case c.keyHosts() == nil:
		return fmt.Errorf("the option PlatformURL is %q; want one such as %s", c.PlatformURL, defaultPlatformURL)
	}
	return nil
}

// keyHosts is the host of PlatformURL, which Probe asks; nil if there is none.
func (c Config) keyHosts() []string {
	u, err := url.Parse(c.PlatformURL)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	return []string{u.Host}
}
