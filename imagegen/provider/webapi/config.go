package webapi

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/template"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Config describes an API. BaseURL, Path, Input, Images and one of Sizes and SizeRules are required.
type Config struct {
	// APIKey is sent to BaseURL's host and nowhere else. Required unless Private.
	APIKey imagegen.Secret

	// KeyHeader is the header in which the key is sent, behind KeyPrefix. If only KeyPrefix is set, KeyHeader is
	// Authorization. If both are "", the key is sent as a bearer token in Authorization.
	KeyHeader, KeyPrefix string

	// Name is the upstream's name, shown to callers. "": "http".
	Name string

	// BaseURL is the address of the API, to which paths are appended. If it has a query, that
	// is sent with every request.
	BaseURL string

	// Headers are sent with every request to the API. Those that the provider sets itself, such as KeyHeader and
	// Content-Type, are not permitted.
	Headers map[string]string

	// Path is where images are asked for, by POST. EditPath is used instead for requests with references. "": Path.
	Path, EditPath string

	// Template is the model and what it is sent.
	provider.Template

	// EditInput is sent instead of Input with requests that have references. nil: Input.
	EditInput map[string]any

	// RatioNames are what {{ratio}} stands for, if the API has its own names.
	RatioNames map[imagegen.Ratio]string

	// Form says which requests are sent as multipart forms instead of JSON. Each name in Input then becomes a field,
	// and a list becomes several fields of that name; references and masks are files, and must be the whole value of a
	// field or an element of its list.
	Form Form

	// Encoding is how references and masks are written in JSON.
	Encoding Encoding

	// Upload, if it has a Path, says where references and masks are stored first, for an API
	// that takes only their addresses.
	Upload Upload

	// Orientation says that the API turns references upright as their EXIF data say. Otherwise it gets upright copies.
	Orientation bool

	// Images are the paths of images in an answer, such as data[].b64_json: names joined by
	// dots, and [] behind the name of a list.
	Images []string

	// Errors are the paths, written likewise, of texts and codes that say what went wrong, such as error.message.
	Errors []string

	// Refusals are words by which a text at one of the paths in Errors is known to come from
	// moderation. Case does not matter.
	Refusals []string

	// Usage says where an answer has numbers of what the work has used.
	Usage Usage

	// Statuses say what a status from 300 to 599 means, if it is not what the package documentation says.
	Statuses map[int]imagegen.Class

	// Imageless is the class of an answer with a status 2xx that has neither an image nor a text at one of the paths
	// in Errors. The zero value is imagegen.ClassUnknown: it may have cost something.
	Imageless imagegen.Class

	// Probe is a path that Provider.Probe reads by GET, which must cost nothing. "": Provider.Probe finds out no more
	// than whether the server answers.
	Probe string

	// ImageHosts are the only hosts that images are fetched from. "*.example.com" stands for every host below
	// example.com; a port is written "example.com:8443". nil: any public host, but only BaseURL's if Private.
	ImageHosts []string

	// Private permits http, and loopback and private addresses. It is for an upstream that the operator runs.
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

// New returns an error that says what is wrong with c, under its Name. It makes no request.
func New(c Config) (*Provider, error) {
	c.Name = cmp.Or(c.Name, "http")
	c.MaxPerCall = cmp.Or(c.MaxPerCall, 1)
	c.EditPath = cmp.Or(c.EditPath, c.Path)
	if c.Upload.Path != "" {
		c.Upload.Field = cmp.Or(c.Upload.Field, "file")
	}
	if c.KeyHeader == "" && c.KeyPrefix != "" {
		c.KeyHeader = "Authorization"
	}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	p := &Provider{config: c}
	err := cmp.Or(p.fillers(), c.checkForm())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	p.client, err = upstream.New(upstream.Options{BaseURL: c.BaseURL, Key: c.APIKey, KeyHeader: c.KeyHeader,
		KeyPrefix: c.KeyPrefix, Headers: maps.Clone(c.Headers), ImageHosts: c.ImageHosts, Private: c.Private,
		Classify: c.classify})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	p.capabilities = p.declared().WithDefaults()
	return p, nil
}

// fillers sets plain and edit: both to the same filler if there is no EditInput. With an
// EditInput, plain need not have a place for references.
func (p *Provider) fillers() (err error) {
	c := p.config
	m := template.ModelOf(c.Template)
	m.RatioNames, m.Can.Orientation = c.RatioNames, c.Orientation
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

// checkForm refuses an input in which a file would be deep within the value of a form's field. That value is JSON,
// which can hold no file: the reference would be dropped.
func (c Config) checkForm() error {
	if c.Form == FormNever || c.Upload.Path != "" {
		return nil
	}
	input := c.Input
	if c.EditInput != nil {
		input = c.EditInput
	}
	for name, value := range input {
		if tooDeep(value) {
			return fmt.Errorf("the option Form: the field %q has a reference or a mask deep within it; in a form it must be the whole value, or an element of a list", name)
		}
	}
	return nil
}

// tooDeep reports whether a file would be in the value of a field and be neither the value nor an element of it.
func tooDeep(value any) bool {
	list, ok := value.([]any)
	if !ok {
		_, text := value.(string)
		return !text && template.HoldsFile(value)
	}
	return slices.ContainsFunc(list, func(element any) bool {
		_, text := element.(string)
		return template.HoldsFile(element) && (!text || element == template.References) // a list within the list
	})
}

// declared are the capabilities with the options for which both inputs have a place, the one with references and the
// one without; a mask needs a place only in the former.
func (p *Provider) declared() imagegen.Capabilities {
	can, plain := p.edit.Can, p.plain.Can
	can.Formats = slices.DeleteFunc(slices.Clone(can.Formats), func(f imagegen.Format) bool {
		return !slices.Contains(plain.Formats, f)
	})
	can.EndUser = can.EndUser && plain.EndUser
	can.Transparent, can.MaxSeed = can.Transparent && plain.Transparent, min(can.MaxSeed, plain.MaxSeed)
	return can
}

func (c Config) validate() error {
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
	if err := c.checkPaths(); err != nil {
		return err
	}
	for status := range c.Statuses {
		if status < 300 || status > 599 {
			return fmt.Errorf("the option Statuses holds %d; it can be from 300 to 599", status)
		}
	}
	return cmp.Or(c.Upload.validateUpload(), c.checkHeaders())
}

// answerPath matches what Config.Images describes. Other notations, such as data[0].url or $.data[*].url, would match
// nothing in any answer, and each call would be paid for in vain.
var answerPath = regexp.MustCompile(`^(\[\]|[^.$*\[\]][^.*\[\]]*)(\[\]|\.[^.*\[\]]+)*$`)

func (c Config) checkPaths() error {
	for option, paths := range map[string][]string{"Images": c.Images, "Errors": c.Errors,
		"Upload": {cmp.Or(c.Upload.Address, "url")},
		"Usage":  c.Usage.paths()} {
		for _, p := range paths {
			if !answerPath.MatchString(p) {
				return fmt.Errorf("the option %s holds the path %q; join names by dots, and write [] behind the name of a list, as in data[].b64_json", option, p)
			}
		}
	}
	return nil
}

// own are the headers that Headers must not have, because the provider or net/http sets them.
var own = []string{"Authorization", "Content-Type", "Content-Length", "Host", "User-Agent", "Connection",
	"Transfer-Encoding", "Accept-Encoding"}

func (c Config) checkHeaders() error {
	for name, value := range c.Headers {
		if !upstream.IsHeaderName(name) {
			return fmt.Errorf("the option Headers holds %q, which is not a name of a header", name)
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
			return fmt.Errorf("the option Headers has a value for %s that no header can have", name)
		}
		if canonical := http.CanonicalHeaderKey(name); slices.Contains(own, canonical) ||
			strings.EqualFold(name, c.KeyHeader) {
			return fmt.Errorf("the option Headers holds %s, which the provider sets itself", canonical)
		}
	}
	return nil
}
