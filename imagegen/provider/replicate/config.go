package replicate

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted"
	"github.com/imagegend/imagegend/imagegen/provider/internal/template"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Config describes a model on Replicate. APIKey, Input, one of Model and Deployment, and one of
// Sizes and SizeRules are required.
type Config struct {
	// APIKey is the API token. It is sent to BaseURL's host and nowhere else. Required unless Private.
	APIKey imagegen.Secret

	// Name is the upstream's name, shown to callers. "": "replicate".
	Name string

	// BaseURL is the address of the API, without /models. "": https://api.replicate.com/v1.
	BaseURL string

	// Model is OWNER/NAME for an official model, OWNER/NAME:VERSION for any other.
	Model string

	// Deployment is OWNER/NAME of a deployment, instead of Model.
	Deployment string

	provider.Template

	// PollInterval is the pause before the first poll of a prediction; later pauses grow to ten
	// times that. 0: 500 ms.
	PollInterval time.Duration

	// ImageHosts are the only hosts that images are fetched from. "*.example.com" stands for every host below
	// example.com; a port is written "example.com:8443". nil: any public host, but only BaseURL's if Private.
	ImageHosts []string

	// Private permits http, and loopback and private addresses. It is for a gateway that the operator runs.
	Private bool
}

// New returns an error that says what is wrong with c. It makes no request.
func New(c Config) (*Provider, error) {
	c.Name = cmp.Or(c.Name, "replicate")
	c.BaseURL = cmp.Or(c.BaseURL, "https://api.replicate.com/v1")
	target, err := c.target()
	if err != nil {
		return nil, fmt.Errorf("replicate: %w", err)
	}
	f, err := template.New(template.ModelOf(c.Template))
	if err != nil {
		return nil, fmt.Errorf("replicate: %w", err)
	}
	p, err := hosted.New(target.describe(hosted.API{Name: c.Name, Interval: c.PollInterval,
		Upstream: upstream.Options{BaseURL: c.BaseURL, Key: c.APIKey, ImageHosts: c.ImageHosts, Private: c.Private,
			Classify: classify}}.Of(f), f))
	if err != nil {
		return nil, fmt.Errorf("replicate: %w", err)
	}
	return &Provider{p}, nil
}

// target is where predictions are created and what Probe asks for.
type target struct {
	create, show string // paths
	version      string // of a community model, sent with each prediction; "": none
}

// modelPath matches OWNER/NAME and OWNER/NAME:VERSION.
var modelPath = regexp.MustCompile(`^([\w.-]+/[\w.-]+)(?::(\w+))?$`)

// target returns the target that Model or Deployment names. Exactly one of them must be set.
func (c Config) target() (target, error) {
	switch {
	case (c.Model == "") == (c.Deployment == ""):
		return target{}, errors.New("one of the options Model and Deployment is required")
	case c.Deployment != "":
		parts := modelPath.FindStringSubmatch(c.Deployment)
		if parts == nil || parts[2] != "" {
			return target{}, fmt.Errorf("the option Deployment is %q; want OWNER/NAME", c.Deployment)
		}
		return target{create: "/deployments/" + parts[1] + "/predictions", show: "/deployments/" + parts[1]}, nil
	}
	parts := modelPath.FindStringSubmatch(c.Model)
	switch {
	case parts == nil:
		return target{}, fmt.Errorf("the option Model is %q; want OWNER/NAME or OWNER/NAME:VERSION", c.Model)
	case parts[2] != "":
		return target{create: "/predictions", show: "/models/" + parts[1] + "/versions/" + parts[2], version: parts[2]},
			nil
	}
	return target{create: "/models/" + parts[1] + "/predictions", show: "/models/" + parts[1]}, nil
}
