package openai_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/openai"
	"github.com/imagegend/imagegend/imagegen/provider/openai/internal/openaitest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// Every option is made by a model that declares it.
func TestProviderWithTransparency(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New: func(t *testing.T) imagegen.Provider {
			return serve(t, &openaitest.Server{}, func(c *openai.Config) { c.Model = "gpt-image-2.5-flare" })
		},
		Endless: openaitest.Endless,
		Sample:  true,
	})
}

func TestOptionsOfModels(t *testing.T) {
	for model, want := range map[string]imagegen.Capabilities{
		"gpt-image-2.6-sunburst": {Formats: imagegen.Formats(), Compression: true, Transparent: true, Mask: true},
		"gpt-image-2":            {Formats: imagegen.Formats(), Compression: true, Mask: true},
		"gpt-image-1.5":          {Formats: imagegen.Formats(), Compression: true, Transparent: true, Mask: true},
		"a-model-of-ones-own":    {},
	} {
		is := is.New(t)
		can := serve(t, &openaitest.Server{}, func(c *openai.Config) { c.Model = model }).Capabilities()
		is.Equal(cmp.Diff(want, imagegen.Capabilities{Formats: can.Formats, Compression: can.Compression,
			Transparent: can.Transparent, Mask: can.Mask, MaxSeed: can.MaxSeed}), "")
	}
}

// The options of a request go before the configured ones.
func TestOptionsAreSent(t *testing.T) {
	for name, c := range map[string]struct {
		config func(*openai.Config)
		asks   imagegen.Options
		want   map[string]any
	}{
		"nothing": {nil, imagegen.Options{}, map[string]any{}},
		"configured": {func(c *openai.Config) {
			c.OutputFormat, c.OutputCompression, c.Background = "webp",
				new(70), "opaque"
		}, imagegen.Options{}, map[string]any{"output_format": "webp", "output_compression": 70.0,
			"background": "opaque"}},
		"format": {func(c *openai.Config) { c.OutputFormat, c.OutputCompression = "webp", new(70) },
			imagegen.Options{Format: "png"}, map[string]any{"output_format": "png"}},
		"compression": {nil, imagegen.Options{Format: "jpeg", Compression: new(0)},
			map[string]any{"output_format": "jpeg", "output_compression": 0.0}},
		"transparent": {nil, imagegen.Options{Background: "transparent"},
			map[string]any{"output_format": "png", "background": "transparent"}},
		"transparent as WebP": {nil, imagegen.Options{Background: "transparent", Format: "webp"},
			map[string]any{"output_format": "webp", "background": "transparent"}},
		"opaque": {func(c *openai.Config) { c.Background = "transparent" },
			imagegen.Options{Background: "opaque"}, map[string]any{"background": "opaque"}},
		"JPEG of transparency": {func(c *openai.Config) { c.Background = "transparent" },
			imagegen.Options{Format: "jpeg", Compression: new(5)}, map[string]any{"background": "transparent",
				"output_format": "png"}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			d := &openaitest.Server{}
			p := serve(t, d, func(o *openai.Config) {
				o.Model = "gpt-image-2.5-flare"
				if c.config != nil {
					c.config(o)
				}
			})
			r := providertest.Request("a fox", 1)
			r.Options = c.asks
			is.NoErr(imagegen.CheckRequest(p, r))
			_, err := providertest.Read(t.Context(), p, r)
			is.NoErr(err)
			got := map[string]any{}
			for _, field := range []string{"output_format", "output_compression", "background"} {
				if v := d.Requests()[0].Params[field]; v != nil {
					got[field] = v
				}
			}
			is.Equal(cmp.Diff(c.want, got), "")
		})
	}
}

// The mask follows the references.
func TestMaskIsSent(t *testing.T) {
	is := is.New(t)
	d := &openaitest.Server{}
	p := serve(t, d, nil)
	r := providertest.Request("a fox", 1)
	r.References = []imagegen.ProviderReference{providertest.Reference("image/jpeg", "\xff\xd8\xff", 8, 8)}
	mask := providertest.Reference("image/png", "\x89PNG\r\n\x1a\n", 8, 8)
	r.Mask = &mask
	_, err := providertest.Read(t.Context(), p, r)
	is.NoErr(err)
	files := d.Requests()[0].Files
	is.Equal(len(files), 2)
	is.Equal([]string{files[0].Field, files[1].Field, files[1].MediaType}, []string{"image[]", "mask", "image/png"})
}
