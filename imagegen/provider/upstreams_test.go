package provider_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/bfl"
	"github.com/imagegend/imagegend/imagegen/provider/comfyui"
	"github.com/imagegend/imagegend/imagegen/provider/fal"
	"github.com/imagegend/imagegend/imagegen/provider/gemini"
	"github.com/imagegend/imagegend/imagegen/provider/openai"
	"github.com/imagegend/imagegend/imagegen/provider/replicate"
	"github.com/imagegend/imagegend/imagegen/provider/router"
	"github.com/imagegend/imagegend/imagegen/provider/sdwebui"
	"github.com/imagegend/imagegend/imagegen/provider/webapi"
)

// upstreams are all adapters, each with the number of pairs of ratio and tier that its upstream
// cannot make.
var upstreams = map[string]struct {
	open    func(address string) (imagegen.Provider, error)
	refused int
}{
	"openai": {func(a string) (imagegen.Provider, error) { return openai.New(openaiAt(a)) }, 0},
	"gemini": {func(a string) (imagegen.Provider, error) {
		return gemini.New(gemini.Config{BaseURL: a + "/v1beta", Private: true})
	}, 5 * 3},
	"sdwebui": {func(a string) (imagegen.Provider, error) { return sdwebui.New(sdwebui.Config{BaseURL: a}) }, 0},
	"comfyui": {func(a string) (imagegen.Provider, error) {
		return comfyui.New(comfyui.Config{BaseURL: a, Workflows: [][]byte{[]byte(workflow)}})
	}, 0},
	"bfl": {func(a string) (imagegen.Provider, error) { return bfl.New(bflAt(a)) }, 16},
	"replicate": {func(a string) (imagegen.Provider, error) {
		c := replicateAt(a)
		c.Input["width"], c.Input["height"] = "{{width}}", "{{height}}"
		c.SizeRules = imagegen.SizeRules{Step: 16, MinEdge: 256, MaxEdge: 3840, MaxPixels: 2048 * 2048, MaxAspect: 3}
		return replicate.New(c)
	}, 16},
	"replicate by name": {func(a string) (imagegen.Provider, error) {
		c := replicateAt(a)
		c.Input["aspect_ratio"] = "{{ratio}}"
		for _, z := range named {
			c.Sizes = append(c.Sizes, z)
		}
		return replicate.New(c)
	}, 12 + 2*16},
	"fal": {func(a string) (imagegen.Provider, error) {
		return fal.New(fal.Config{BaseURL: a, Private: true, PollInterval: poll, Model: "acme/fox",
			Template: provider.Template{SizeRules: imagegen.SizeRules{Step: 8, MinEdge: 512, MaxEdge: 4096,
				MaxPixels: 4096 * 4096, MaxAspect: 3}}})
	}, 0},
	"webapi": {func(a string) (imagegen.Provider, error) {
		return webapi.New(webapi.Config{BaseURL: a + "/v1", Private: true, Path: "/images/generations",
			Template: provider.Template{MaxPerCall: 4, SizeRules: imagegen.SizeRules(openai.GPTImage2()),
				Input: map[string]any{"model": "gpt-image-2", "prompt": "{{prompt}}", "n": "{{n}}", "size": "{{size}}",
					"quality": "{{quality}}"}},
			Images: []string{"data[].b64_json", "data[].url"},
			Errors: []string{"error.message", "error.code"}, Refusals: []string{"moderation"}})
	}, 0},
	"router": {func(a string) (imagegen.Provider, error) {
		first, err := bfl.New(bflAt(a))
		if err != nil {
			return nil, err
		}
		second, err := openai.New(openaiAt(a))
		if err != nil {
			return nil, err
		}
		return router.New(router.Config{Members: []router.Member{{Provider: first, Weight: 1}, {Provider: second}}})
	}, 0},
}

var prices = map[imagegen.Tier]imagegen.Credits{"1K": 1, "2K": 2, "4K": 4}

// For every ratio and tier that an adapter offers, the size that it sends is legal for its upstream, and
// the picture that comes back through the engine has that ratio and tier. What it does not offer is
// refused before the upstream hears of it, and before the charge.
func TestEveryRatioTierAndUpstream(t *testing.T) {
	for name, u := range upstreams {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			e := &drawingUpstream{}
			server := httptest.NewServer(e.routes())
			defer server.Close()
			p, err := u.open(server.URL)
			is.NoErr(err)
			var wanted imagegen.Generation
			engine := imagegentest.Start(t, func(c *engine.Config) {
				c.Models[0].Provider, c.Models[0].Credits = p, prices
				c.Policy = func(imagegen.Size, imagegen.Quality, imagegen.ModelInfo) (engine.Choice, error) {
					return engine.Choice{Ratio: wanted.Ratio, Tier: wanted.Tier}, nil
				}
			})
			alice := engine.As(imagegentest.Alice)
			engine.Grant(t, imagegentest.Alice, 12) // to 112: the price of 16 ratios in three tiers
			refused, spent := 0, imagegen.Credits(0)
			for _, wanted.Ratio = range imagegen.Ratios() {
				for _, wanted.Tier = range imagegen.Tiers() {
					if draws(t, e, alice, wanted) {
						spent += prices[wanted.Tier]
					} else {
						refused++
					}
				}
			}
			is.Equal(refused, u.refused)
			balance, err := alice.Balance(t.Context())
			is.NoErr(err)
			is.Equal(balance.Credits, 112-spent)
		})
	}
}

// draws reports whether a ratio in a tier is drawn, and fails the test if it is drawn wrongly, or
// refused otherwise than it should.
func draws(t *testing.T, e *drawingUpstream, alice imagegen.Service, wanted imagegen.Generation) bool {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s in %s: "+format, append([]any{wanted.Ratio, wanted.Tier}, args...)...)
	}
	before := e.drawn()
	got, err := alice.Generate(context.Background(), imagegen.GenerateRequest{Model: imagegentest.Model,
		Prompt: "a fox"})
	if problems := e.found(); problems != nil {
		fail("the upstream was sent what is not legal: %v", problems)
	}
	if errors.Is(err, imagegen.ErrInvalidRequest) {
		if e.drawn() != before || got.ID != "" {
			fail("it was refused, but drawn or recorded")
		}
		return false
	}
	if err != nil {
		fail("%v", err)
	}
	size := imagegen.Size{Width: got.Images[0].Width, Height: got.Images[0].Height}
	ratio := imagegen.NearestRatio(size, slices.DeleteFunc(imagegen.Ratios(), func(r imagegen.Ratio) bool {
		return r == imagegen.RatioAuto
	}))
	switch {
	case len(got.Images) != 1 || e.drawn() != before+1:
		fail("%d images came of %d drawn", len(got.Images), e.drawn()-before)
	case imagegen.TierOf(size.Area()) != wanted.Tier:
		fail("it came back as %v", size)
	case wanted.Ratio != imagegen.RatioAuto && ratio != wanted.Ratio:
		fail("it came back as %v", size)
	}
	return true
}
