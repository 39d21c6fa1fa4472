package openai_test

import (
	"math"
	"slices"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/openai"
	"github.com/imagegend/imagegend/imagegen/provider/openai/internal/openaitest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

func TestExplicitSizes(t *testing.T) {
	d := &openaitest.Server{}
	p := serve(t, d, nil)
	for asked, sent := range map[string]string{
		"1024x1024": "1024x1024", // legal: unchanged
		"1536x1024": "1536x1024",
		"3840x2160": "3840x2160",
		"1280x512":  "1280x512",  // on the floor
		"1920x1080": "1920x1088", // to the next step
		"1001x667":  "1008x672",
		"512x512":   "1024x1024", // too small: the table's
		"64x36":     "1280x720",
		"100x300":   "576x1728",
		"1400x463":  "1728x576",  // would be beyond 3:1 in steps
		"2113x698":  "3504x1168", // larger than the tier's entry
	} {
		t.Run(asked, func(t *testing.T) {
			is := is.New(t)
			before := len(d.Requests())
			images, err := providertest.Collect(t.Context(), p, providertest.Explicit(t, p, asked))
			is.NoErr(err)
			is.Equal(len(images), 1)
			is.Equal(d.Requests()[before].Params["size"], sent)
		})
	}
}

func TestAutoSize(t *testing.T) {
	wide := []imagegen.ProviderReference{providertest.Reference("image/png", "\x89PNG\r\n\x1a\n", 1600, 900)}
	for name, c := range map[string]struct {
		tier       imagegen.Tier
		references []imagegen.ProviderReference
		noAuto     bool
		sent       string
	}{
		"lowest tier":                {tier: "1K", sent: "auto"},
		"lowest tier, reference":     {tier: "1K", references: wide, sent: "auto"},
		"2K":                         {tier: "2K", sent: "2048x2048"},
		"2K, reference":              {tier: "2K", references: wide, sent: "2560x1440"},
		"4K, reference":              {tier: "4K", references: wide, sent: "3840x2160"},
		"a model without auto":       {tier: "1K", noAuto: true, sent: "1024x1024"},
		"without auto, by reference": {tier: "1K", noAuto: true, references: wide, sent: "1280x720"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			d := &openaitest.Server{}
			p := serve(t, d, func(o *openai.Config) { o.NoAuto = c.noAuto })
			r := providertest.Request("a fox", 1)
			r.Ratio, r.Tier, r.References = imagegen.RatioAuto, c.tier, c.references
			is.NoErr(imagegen.CheckRequest(p, r))
			_, err := providertest.Collect(t.Context(), p, r)
			is.NoErr(err)
			is.Equal(d.Requests()[0].Params["size"], c.sent)
		})
	}
}

func TestListedSizes(t *testing.T) {
	is := is.New(t)
	d := &openaitest.Server{}
	p := serve(t, d, func(c *openai.Config) {
		c.Sizes = []imagegen.Size{{Width: 1536, Height: 1024}, {Width: 1024, Height: 1024}, {Width: 2048, Height: 2048}}
		c.MaxReferences, c.NoQuality = -1, true
	})
	can := p.Capabilities()
	is.Equal(can.Ratios, []imagegen.Ratio{"auto", "1:1", "3:2"})
	is.Equal(can.Tiers, []imagegen.Tier{"1K", "2K"})
	is.Equal(can.MaxReferences, 0)

	is.NoErr(imagegen.CheckRequest(p, providertest.Explicit(t, p, "600x400")))
	err := imagegen.CheckRequest(p, providertest.Explicit(t, p, "1800x1200"))
	is.True(err != nil)
	missing := providertest.Request("a fox", 1)
	missing.Ratio, missing.Tier = "3:2", "2K"
	is.True(imagegen.CheckRequest(p, missing) != nil) // no size of this ratio in this tier

	auto := providertest.Request("a fox", 1)
	auto.Ratio = imagegen.RatioAuto
	for _, r := range []imagegen.ProviderRequest{providertest.Explicit(t, p, "600x400"), auto} {
		images, err := providertest.Collect(t.Context(), p, r)
		is.NoErr(err)
		is.Equal(len(images), 1)
	}
	is.Equal(d.Requests()[0].Params["size"], "1536x1024")
	is.Equal(d.Requests()[1].Params["size"], "1024x1024") // a listed one, not "auto"
	_, sent := d.Requests()[0].Params["quality"]
	is.True(!sent)
}

// For each of OpenAI's models, the sizes on offer are those that the model takes, and no others.
func TestSizesOfEachModel(t *testing.T) {
	all, three := imagegen.Ratios(), []imagegen.Ratio{"auto", "1:1", "3:2", "2:3"}
	for model, ratios := range map[string][]imagegen.Ratio{"gpt-image-2": all, "gpt-image-2.5-flare": all,
		"gpt-image-2.6-sunburst": all, "gpt-image-1.5": three} {
		t.Run(model, func(t *testing.T) {
			is := is.New(t)
			p := serve(t, &openaitest.Server{}, func(c *openai.Config) { c.Model = model })
			is.NoErr(p.Probe(t.Context()))
			can := p.Capabilities()
			is.Equal(can.Ratios, ratios)
			for _, ratio := range can.Ratios {
				for _, tier := range can.Tiers {
					r := providertest.Request("a fox", 1)
					r.Ratio, r.Tier = ratio, tier
					images, err := providertest.Collect(t.Context(), p, r)
					is.NoErr(err)
					is.True(r.Fits(images[0]) == nil)
				}
			}
		})
	}
	unknown := serve(t, &openaitest.Server{}, func(c *openai.Config) {
		c.Model, c.Complexity, c.InputFidelity = "my-deployment", "low", "low"
	})
	is.New(t).Equal(unknown.Capabilities().Ratios, all)
}

func TestSizeRulesOfAnotherModel(t *testing.T) {
	is := is.New(t)
	p := serve(t, &openaitest.Server{}, func(c *openai.Config) {
		c.SizeRules = imagegen.SizeRules{Step: 64, MaxEdge: 2048, MinPixels: 64 * 64, MaxPixels: 2048 * 2048,
			MaxAspect: 2}
	})
	can := p.Capabilities()
	is.Equal(can.Tiers, []imagegen.Tier{"1K", "2K"})
	is.True(slices.Contains(can.Ratios, "2:1"))
	is.True(!slices.Contains(can.Ratios, "3:1"))
	for _, ratio := range can.Ratios[1:] {
		is.True(math.Max(ratio.Aspect(), 1/ratio.Aspect()) <= 2)
	}
}
