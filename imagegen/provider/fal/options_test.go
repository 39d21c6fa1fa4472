package fal_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/fal"
	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted/hostedtest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// optional gives Input a place for each option.
func optional(c *fal.Config) {
	c.Input = map[string]any{"prompt": "{{prompt}}", "image_size": map[string]any{"width": "{{width}}",
		"height": "{{height}}"},
		"image_urls": "{{references}}", "seed": "{{seed}}", "output_format": "{{format}}",
		"background": "{{background}}", "mask_url": "{{mask}}"}
	c.FormatNames = map[imagegen.Format]string{"png": "png", "jpeg": "jpeg", "webp": "webp"}
}

func TestProviderWithOptions(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New:       func(t *testing.T) imagegen.Provider { return serve(t, double(), optional) },
		Endless:   hostedtest.Endless,
		SavesJobs: true,
		Sample:    true,
	})
}

// Options that Input has no place for are not declared; those that a request does not set are left out.
func TestOptionsNeedAPlace(t *testing.T) {
	is := is.New(t)
	can := serve(t, double(), nil).Capabilities()
	is.True(can.Formats == nil && !can.Transparent && !can.Mask && can.MaxSeed == 0)
	d := double()
	p := serve(t, d, optional)
	_, err := providertest.Read(t.Context(), p, providertest.Request("a fox", 1))
	is.NoErr(err)
	is.Equal(len(d.Sent()[0].Fields), 2) // prompt and size
	r := providertest.Request("a fox", 2)
	r.Options = imagegen.Options{Format: "webp", Background: "opaque", Seed: new(int64(7))}
	_, err = providertest.Read(t.Context(), p, r)
	is.NoErr(err)
	seeds := map[any]bool{}
	for _, s := range d.Sent()[1:] {
		is.Equal(s.Fields["output_format"], "webp")
		is.Equal(s.Fields["background"], "opaque")
		seeds[s.Fields["seed"]] = true
	}
	is.Equal(seeds, map[any]bool{7.0: true, 8.0: true}) // each call has its own
}
