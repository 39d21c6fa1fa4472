package webapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/template"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

const defaultName = "http"

// Config describes an API. BaseURL, Path, Input, Images and one of Sizes and SizeRules are required.
type Config struct {
	// APIKey is sent to BaseURL's host and nowhere else. Required unless Private.
	APIKey imagegen.Secret `yaml:"key"`

	// KeyHeader carries the key behind KeyPrefix. Both "": Authorization, as a bearer token.
	KeyHeader, KeyPrefix string

	// Name is the upstream's name, shown to callers. "": "http".
	Name string

	// BaseURL is where the API lives; a query is sent with every request.
	BaseURL string

	// Headers are sent with every request to it.
	Headers map[string]string

	// Path is where images are asked for, by POST; EditPath is the same for requests with
	// references. "": Path.
	Path, EditPath string

	// Input is what is sent, with the placeholders that the package documentation lists;
	// EditInput is the same for requests with references. nil: Input.
	Input, EditInput map[string]any

	// Form says when the input is sent as a multipart form instead of JSON: each name of Input is a field
	// of the form then, and each element of a list; references are files.
	Form Form

	// Encoding is what references become within JSON.
	Encoding Encoding

	// Upload, if it has a path, is where references are stored first, for an API that takes their addresses only.
	Upload Upload

	// Sizes lists what the model makes, where it does not take any size that is asked for. Input must say
	// which one is wanted if there are several.
	Sizes []imagegen.Size

	// SizeRules say which sizes the model takes, if Sizes is nil.
	SizeRules imagegen.SizeRules

	// TierNames are what {{tier}} stands for, and RatioNames what {{ratio}} does, where the API has names
	// of its own.
	TierNames  map[imagegen.Tier]string
	RatioNames map[imagegen.Ratio]string

	// FormatNames are all formats that {{format}} can stand for, and what the API calls each, such as jpg for jpeg.
	FormatNames map[imagegen.Format]string

	// MaxReferences is the most reference images. 0: none.
	MaxReferences int `zero:"0"`

	// MaxPerCall is the most images that one call makes; for more, several calls are made at once. 0: 1.
	MaxPerCall int

	// MaxPrompt is the most characters of a prompt. 0: 32,000.
	MaxPrompt int

	// Images are the paths of images in an answer, such as data[].b64_json.
	Images []string

	// Errors are the paths of texts and codes that tell what went wrong, such as error.message.
	Errors []string

	// Refusals are words by which such a text is known to come from moderation.
	Refusals []string

	// Statuses say what a status means, where it means something else here.
	Statuses map[int]imagegen.Class

	// Imageless is what an answer means that has neither an image nor an error. The zero
	// value says that it may have cost something.
	Imageless imagegen.Class

	// Probe is a path that Provider.Probe reads by GET, which must cost nothing. "": Probe
	// only checks that the server answers.
	Probe string

	// ImageHosts are the only hosts that images are fetched from; "*.example.com" stands for every
	// host below example.com. nil: any.
	ImageHosts []string

	// Private permits http, and loopback and private addresses: for an upstream of one's own.
	Private bool
}

// Form says which requests are multipart forms.
type Form uint8

// The forms.
const (
	FormNever  Form = iota // all are JSON
	FormEdits              // those with references
	FormAlways             // all
)

// Encoding is how a reference image stands in JSON.
type Encoding uint8

// The encodings.
const (
	DataURL Encoding = iota // data:image/png;base64,…
	Base64                  // the bytes alone
)

// New returns an error that says what is wrong with c. It makes no request.
func New(c Config) (*Provider, error) {
	c.Name = cmp.Or(c.Name, defaultName)
	c.MaxPerCall = cmp.Or(c.MaxPerCall, 1)
	c.EditPath = cmp.Or(c.EditPath, c.Path)
	if c.Upload.Path != "" {
		c.Upload.Field = cmp.Or(c.Upload.Field, "file")
	}
	if c.KeyHeader == "" && c.KeyPrefix != "" {
		c.KeyHeader = "Authorization"
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	p := &Provider{config: c}
	err := p.fillers()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	p.client, err = upstream.New(upstream.Options{BaseURL: c.BaseURL, Key: c.APIKey, KeyHeader: c.KeyHeader, KeyPrefix: c.KeyPrefix,
		Header: c.header(), ImageHosts: c.ImageHosts, Private: c.Private, Classify: c.classify})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	p.capabilities = p.declared().WithDefaults()
	return p, nil
}

// fillers are one for all requests, or one for those without references and one for those with them.
func (p *Provider) fillers() (err error) {
	c := p.config
	m := template.Model{Input: c.Input, TierNames: c.TierNames, RatioNames: c.RatioNames, FormatNames: c.FormatNames, MaxPerCall: c.MaxPerCall, Can: c.capabilities()}
	if c.EditInput == nil {
		p.plain, err = template.New(m)
		p.edit = p.plain
		return err
	}
	edit := m
	edit.Input, m.Can.MaxReferences = c.EditInput, 0
	if p.plain, err = template.New(m); err != nil {
		return err
	}
	if p.edit, err = template.New(edit); err != nil {
		return fmt.Errorf("the option EditInput: %w", err)
	}
	return nil
}

func (c Config) capabilities() imagegen.Capabilities {
	return imagegen.Capabilities{Sizes: c.Sizes, SizeRules: c.SizeRules, MaxReferences: c.MaxReferences, MaxPrompt: c.MaxPrompt}
}

// declared are the capabilities with the options that requests have a place for, be it with references or without.
func (p *Provider) declared() imagegen.Capabilities {
	can, edit := p.edit.Can, p.plain.Can
	can.Formats = slices.DeleteFunc(slices.Clone(can.Formats), func(f imagegen.Format) bool { return !slices.Contains(edit.Formats, f) })
	can.Transparent, can.MaxSeed = can.Transparent && edit.Transparent, min(can.MaxSeed, edit.MaxSeed)
	return can
}

func (c Config) check() error {
	switch {
	case !strings.HasPrefix(c.Path, "/") || !strings.HasPrefix(c.EditPath, "/"):
		return fmt.Errorf("the option Path is %q and EditPath %q; want such as /images/generations", c.Path, c.EditPath)
	case c.Probe != "" && !strings.HasPrefix(c.Probe, "/"):
		return fmt.Errorf("the option Probe is %q; want such as /models", c.Probe)
	case len(c.Images) == 0:
		return errors.New("the option Images is empty; it names where images stand in an answer, such as data[].b64_json")
	case c.EditInput != nil && c.MaxReferences == 0:
		return errors.New("the option EditInput is set, but MaxReferences is 0")
	case len(c.Refusals) > 0 && len(c.Errors) == 0:
		return errors.New("the option Refusals is set, but Errors does not say where to look for them")
	case slices.Contains(c.Refusals, ""):
		return errors.New("the option Refusals holds an empty text, which every error has")
	case c.Form > FormAlways || c.Encoding > Base64:
		return errors.New("the option Form or Encoding has an unknown value")
	}
	for status := range c.Statuses {
		if status < 300 || status > 599 {
			return fmt.Errorf("the option Statuses holds %d; it can be from 300 to 599", status)
		}
	}
	return cmp.Or(c.Upload.check(), c.checkHeaders())
}

// own are the headers that are not the configuration's to set.
var own = []string{"Authorization", "Content-Type", "Content-Length", "Host", "User-Agent", "Connection", "Transfer-Encoding", "Accept-Encoding"}

func (c Config) checkHeaders() error {
	for name, value := range c.Headers {
		if strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' }) || name == "" {
			return fmt.Errorf("the option Headers holds %q, which is no name of a header", name)
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
			return fmt.Errorf("the option Headers has a value for %s that no header can have", name)
		}
		if canonical := http.CanonicalHeaderKey(name); slices.Contains(own, canonical) || strings.EqualFold(name, c.KeyHeader) {
			return fmt.Errorf("the option Headers holds %s, which the provider sets itself", canonical)
		}
	}
	return nil
}

func (c Config) header() http.Header {
	h := http.Header{}
	for name, value := range c.Headers {
		h.Set(name, value)
	}
	return h
}
