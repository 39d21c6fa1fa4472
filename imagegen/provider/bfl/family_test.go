package bfl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/bfl"
	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted/hostedtest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// Each kind of model gets the fields that it knows, and makes what was asked for.
func TestEveryFamily(t *testing.T) {
	for model := range inputs {
		t.Run(model, func(t *testing.T) {
			prompt := ""
			if strings.HasSuffix(model, "ultra") {
				prompt = "an ultra wide fox"
			}
			providertest.Run(t, providertest.Config{
				New: func(t *testing.T) imagegen.Provider {
					return serve(t, double(), func(c *bfl.Config) { c.Model = model })
				},
				Prompt:    prompt,
				SavesJobs: true,
			})
		})
	}
}

func TestWhatFamiliesAreSent(t *testing.T) {
	for model, c := range map[string]struct {
		size, ratio, tier string
		references        int
		sent              map[string]any
	}{
		"flux-3-image": {"auto", "21:9", "4K", 2, map[string]any{"aspect_ratio": "21:9", "resolution": "4k",
			"images": []any{"Zm94", "b3ds"}}},
		"flux-kontext-pro": {"auto", "3:2", "1K", 2, map[string]any{"aspect_ratio": "3:2", "input_image": "Zm94",
			"input_image_2": "b3ds"}},
		"flux-pro-1.1-ultra": {"1600x900", "16:9", "1K", 0, map[string]any{"aspect_ratio": "16:9"}}, // cropped
		"flux-pro-1.1":       {"1000x750", "4:3", "1K", 0, map[string]any{"width": 1024.0, "height": 768.0}},
	} {
		t.Run(model, func(t *testing.T) {
			is := is.New(t)
			d := double()
			p := serve(t, d, func(c *bfl.Config) { c.Model = model })
			r := providertest.Request("an ultra wide fox", 1)
			r.Size, _ = imagegen.ParseSize(c.size)
			r.Ratio, r.Tier = imagegen.Ratio(c.ratio), imagegen.Tier(c.tier)
			r.References = []imagegen.ProviderReference{providertest.Reference("image/png", "fox", 10, 10),
				providertest.Reference("image/png", "owl", 10, 10)}[:c.references]
			is.NoErr(imagegen.CheckRequest(p, r))
			_, err := providertest.Collect(t.Context(), p, r)
			is.NoErr(err)
			c.sent["prompt"] = r.Prompt
			is.Equal(cmp.Diff([]hostedtest.Sent{{Path: "/v1/" + model, Fields: c.sent}}, d.Sent()), "")
		})
	}
}

// A ratio that a model makes another one of is not on offer: nobody pays for the wrong one.
func TestRatiosThatAreBent(t *testing.T) {
	is := is.New(t)
	can := serve(t, double(), func(c *bfl.Config) { c.Model = "flux-kontext-pro" }).Capabilities()
	is.Equal(can.Ratios, []imagegen.Ratio{"auto", "1:1", "4:3", "3:4", "3:2", "2:3", "21:9", "9:21", "2:1", "1:2"})
	is.Equal(can.Tiers, []imagegen.Tier{"1K"})
	is.Equal(can.MaxReferences, 4)
}

func TestFamiliesRefuse(t *testing.T) {
	tolerance := 5
	for says, c := range map[string]bfl.Config{
		"for model flux-3-image it can be from 0 to 4":           {Model: "flux-3-image", SafetyTolerance: &tolerance},
		"model flux-3-image does not let it be chosen":           {Model: "flux-3-image", OutputFormat: "png"},
		"model flux-kontext-max takes a ratio and no size":       {Model: "flux-kontext-max", SizeRules: bfl.Flux2()},
		"for model flux-2-klein-4b it can be up to 4":            {Model: "flux-2-klein-4b", MaxReferences: 5},
		"MaxReferences is 1; for model flux-dev it can be up to": {Model: "flux-dev", MaxReferences: 1},
	} {
		t.Run(says, func(t *testing.T) {
			c.APIKey = key
			_, err := bfl.New(c)
			is.New(t).True(err != nil && strings.Contains(err.Error(), says))
		})
	}
}

// A model that a gateway serves under a name of its own makes what the configuration says.
func TestSizeRulesOfAnotherName(t *testing.T) {
	for model, rules := range map[string]imagegen.SizeRules{"flux-2-pro": bfl.Flux2(), "flux-pro-1.1": bfl.Flux1()} {
		is := is.New(t)
		is.Equal(serve(t, double(), func(c *bfl.Config) { c.Model = model }).Capabilities().SizeRules, rules)
		is.Equal(serve(t, double(), func(c *bfl.Config) { c.Model, c.SizeRules = "ours", rules }).Capabilities().
			SizeRules, rules)
	}
}
