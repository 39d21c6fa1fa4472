package openai_test

import (
	_ "image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
	"github.com/imagegend/imagegend/imagegen/provider/openai"
	"github.com/imagegend/imagegend/imagegen/provider/openai/internal/openaitest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// serve starts an upstream and returns a provider for it.
func serve(t *testing.T, upstream http.Handler, change func(*openai.Config)) *openai.Provider {
	t.Helper()
	return upstreamtest.Serve(t, upstream, func(address string) openai.Config {
		return openai.Config{APIKey: openaitest.Key, BaseURL: address + "/v1", Private: true}
	}, change, openai.New)
}

func TestProvider(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New: func(t *testing.T) imagegen.Provider {
			return serve(t, &openaitest.Server{}, nil)
		},
		Answering: func(t *testing.T, h http.Handler) imagegen.Provider { return serve(t, h, nil) },
		Endless:   openaitest.Endless,
		Sample:    true,
		Usual:     true,
	})
}

func TestProviderWithOneImagePerCallAndLinks(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New: func(t *testing.T) imagegen.Provider {
			d := &openaitest.Server{}
			return serve(t, d, func(c *openai.Config) {
				d.Link, c.MaxPerCall = func(path string) string { return strings.TrimSuffix(c.BaseURL, "/v1") + path },
					1
			})
		},
		Endless: openaitest.Endless,
		Sample:  true,
	})
}

func TestGenerationIsSent(t *testing.T) {
	is := is.New(t)
	d := &openaitest.Server{}
	p := serve(t, d, func(c *openai.Config) { c.OutputFormat, c.Moderation = "png", "low" })
	r := providertest.Request("a <fox> & \u2028 \"snow\"", 3)
	r.Quality = "high"
	images, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	is.Equal(len(images), 3)
	want := []openaitest.Request{{Path: "/v1/images/generations", Params: map[string]any{"model": "gpt-image-2",
		"prompt": "a <fox> & \u2028 \"snow\"", "n": 3.0, "size": "1024x1024", "quality": "high", "output_format": "png",
		"moderation": "low"}}}
	if diff := cmp.Diff(want, d.Requests()); diff != "" {
		t.Error(diff)
	}
}

var padding = strings.Repeat("\x00", 5000)

func TestEditIsSent(t *testing.T) {
	is := is.New(t)
	d := &openaitest.Server{}
	compression := 80
	p := serve(t, d, func(c *openai.Config) {
		c.Model, c.Complexity = "gpt-image-2.6-sunburst", "medium"
		c.Moderation, c.Background, c.InputFidelity, c.OutputFormat, c.OutputCompression = "low", "opaque", "high",
			"jpeg", &compression
	})
	r := providertest.Request("as a comic", 2)
	r.EndUser = "0123456789abcdef"
	r.References = []imagegen.ProviderReference{
		providertest.Reference("image/png", "\x89PNG\r\n\x1a\n"+padding, 40, 40),
		providertest.Reference("image/jpeg", "\xff\xd8\xff"+padding, 40, 40),
		providertest.Reference("image/webp", "RIFF\x00\x00\x00\x00WEBPVP"+padding, 40, 40),
	}
	images, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	is.Equal(len(images), 2)
	want := []openaitest.Request{{Path: "/v1/images/edits",
		Params: map[string]any{"model": "gpt-image-2.6-sunburst", "prompt": "as a comic", "n": 2.0, "size": "1024x1024",
			"quality": "auto", "moderation": "low", "background": "opaque", "complexity": "medium",
			"user": "0123456789abcdef", "input_fidelity": "high", "output_format": "jpeg", "output_compression": 80.0},
		Files: []openaitest.File{{Field: "image[]", Name: "reference-1.png", MediaType: "image/png", Size: 5008},
			{Field: "image[]", Name: "reference-2.jpeg", MediaType: "image/jpeg", Size: 5003},
			{Field: "image[]", Name: "reference-3.webp", MediaType: "image/webp", Size: 5014}}}}
	if diff := cmp.Diff(want, d.Requests()); diff != "" {
		t.Error(diff)
	}
}

// Parameters for edits only are not sent with the rest, and a model's own names of qualities are.
func TestGenerationWithoutFidelity(t *testing.T) {
	is := is.New(t)
	d := &openaitest.Server{}
	p := serve(t, d, func(c *openai.Config) {
		c.Model, c.InputFidelity, c.Background = "gpt-image-2.5-flare", "high", "transparent"
		c.QualityNames = map[imagegen.Quality]string{"high": "max"}
	})
	r := providertest.Request("a fox", 1)
	r.Quality, r.EndUser = "high", "0123456789abcdef"
	_, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	is.Equal(d.Requests()[0].Params, map[string]any{"model": "gpt-image-2.5-flare", "prompt": "a fox", "n": 1.0,
		"size": "1024x1024", "quality": "max", "background": "transparent", "user": "0123456789abcdef"})
}

func TestCallsAreSplit(t *testing.T) {
	is := is.New(t)
	d := &openaitest.Server{}
	p := serve(t, d, func(c *openai.Config) { c.MaxPerCall = 3 })
	images, err := providertest.Collect(t.Context(), p, providertest.Request("foxes", 4))
	is.NoErr(err)
	is.Equal(len(images), 4)
	sum := 0.0
	for _, r := range d.Requests() {
		sum += r.Params["n"].(float64)
	}
	is.Equal(len(d.Requests()), 2)
	is.Equal(sum, 4.0)
}

func TestHeaders(t *testing.T) {
	is := is.New(t)
	var got http.Header
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r.Header }),
		func(c *openai.Config) {
			c.KeyHeader, c.Organization, c.Project = "api-key", "org-1", "proj-1"
		})
	is.NoErr(p.Probe(t.Context()))
	is.Equal(got.Get("Api-Key"), openaitest.Key)
	is.Equal(got.Get("Authorization"), "")
	is.Equal(got.Get("OpenAI-Organization"), "org-1")
	is.Equal(got.Get("OpenAI-Project"), "proj-1")
}

func TestNewRefuses(t *testing.T) {
	tooMuch, some := 101, 80
	for name, c := range map[string]openai.Config{
		"no key":               {},
		"too little quality":   {APIKey: "k", OutputFormat: "jpeg", OutputCompression: &tooMuch},
		"a compressed PNG":     {APIKey: "k", OutputFormat: "png", OutputCompression: &some},
		"unknown background":   {APIKey: "k", Background: "blue"},
		"a clear JPEG":         {APIKey: "k", Background: "transparent", OutputFormat: "jpeg"},
		"unknown fidelity":     {APIKey: "k", InputFidelity: "auto"},
		"http":                 {APIKey: "k", BaseURL: "http://api.example.com"},
		"no host":              {APIKey: "k", BaseURL: "api.example.com/v1"},
		"key with a line":      {APIKey: "k\n"},
		"too many per call":    {APIKey: "k", MaxPerCall: 11},
		"too many references":  {APIKey: "k", MaxReferences: 17},
		"prompt too long":      {APIKey: "k", MaxPrompt: 32_001},
		"unknown format":       {APIKey: "k", OutputFormat: "gif"},
		"unknown moderation":   {APIKey: "k", Moderation: "none"},
		"unknown complexity":   {APIKey: "k", Model: "gpt-image-2.6-flare", Complexity: "max"},
		"no complexity":        {APIKey: "k", Model: "gpt-image-2.5-flare", Complexity: "low"},
		"high fidelity":        {APIKey: "k", Model: "gpt-image-1-mini", InputFidelity: "high"},
		"no fidelity":          {APIKey: "k", Model: "gpt-image-2-2026-04-21", InputFidelity: "high"},
		"no such quality":      {APIKey: "k", QualityNames: map[imagegen.Quality]string{"high": "max"}},
		"a size of zero":       {APIKey: "k", Sizes: []imagegen.Size{{}}},
		"sizes without a tier": {APIKey: "k", Sizes: []imagegen.Size{{Width: 100, Height: 1000}}},
		"rules without a size": {APIKey: "k", SizeRules: imagegen.SizeRules{Step: 16}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openai.New(c)
			is.New(t).True(err != nil)
		})
	}
	_, err := openai.New(openai.Config{APIKey: "k", Model: "gpt-image-1-mini", InputFidelity: "low"})
	is.New(t).NoErr(err)
}
