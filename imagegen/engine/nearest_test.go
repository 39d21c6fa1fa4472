package engine_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

var anySize = regexp.MustCompile(`(\d+x\d+)$`)

// The refusal of a size that a model does not offer names the nearest one that it does.
func TestRefusedSizeNamesTheNearest(t *testing.T) {
	for _, c := range []struct {
		offered       []imagegen.Tier
		asked, nearby string
	}{
		{imagegen.Tiers(), "8000x100", "2257x752"},
		{imagegen.Tiers(), "304x100", "304x101"},
		{imagegen.Tiers(), "49x16", "48x16"},
		{imagegen.Tiers(), "16x64", "22x64"},
		{[]imagegen.Tier{"1K"}, "3000x3000", "1303x1303"},
		{[]imagegen.Tier{"1K", "2K"}, "3840x2160", "2797x1573"},
		{[]imagegen.Tier{"2K", "4K"}, "1024x768", "1506x1130"},
		{[]imagegen.Tier{"1K", "4K"}, "1500x1500", "1303x1303"},
		{[]imagegen.Tier{"4K"}, "16x16", "2098x2098"},
		{[]imagegen.Tier{"1K"}, "4000x1000", "2257x752"}, // neither the ratio nor the tier
		{[]imagegen.Tier{"1K"}, "16x8192", "752x2257"},
	} {
		t.Run(fmt.Sprintf("%s of %v", c.asked, c.offered), func(t *testing.T) {
			is := is.New(t)
			h := start(t, yieldImages(1, nil), func(cfg *engine.Config) {
				prices := map[imagegen.Tier]imagegen.Credits{}
				for _, tier := range c.offered {
					prices[tier] = 1
				}
				cfg.Models[0].Credits = prices
			})
			_, err := h.generate(imagegen.GenerateRequest{Size: parse(t, c.asked)})
			is.True(isCode(err, imagegen.ErrInvalidRequest))
			is.Equal(anySize.FindString(err.Error()), c.nearby)
			_, err = h.generate(imagegen.GenerateRequest{Size: parse(t, c.nearby)})
			is.True(!isCode(err, imagegen.ErrInvalidRequest)) // it can be had
		})
	}
}

// upTo is a provider that makes nothing with an edge longer than this.
type upTo struct {
	imagegen.Provider
	edge int
}

var _ imagegen.Checker = upTo{}

func (p upTo) Check(r imagegen.ProviderRequest) error {
	if max(r.Size.Width, r.Size.Height) > p.edge {
		return &imagegen.ProviderError{Class: imagegen.ClassInvalid, Message: "too large"}
	}
	return nil
}

// The size that is named can be had of the provider, and under the policy.
func TestNearestSizeCanBeHad(t *testing.T) {
	for _, c := range []struct {
		policy        engine.Policy
		offered       imagegen.Tier
		asked, nearby string
		quality       imagegen.Quality
	}{
		{engine.SizeFirst, "1K", "2048x2048", "1024x1024", "auto"},
		{engine.SizeFirst, "1K", "3000x1000", "1024x341", "auto"},
		{engine.SizeFirst, "4K", "2048x2048", "", "auto"}, // none is so large
		{engine.QualityFirst, "1K", "2048x2048", "1024x1024", "auto"},
		{engine.QualityFirst, "2K", "1000x300", "1000x333", "medium"},
	} {
		t.Run(fmt.Sprintf("%s of %s", c.asked, c.offered), func(t *testing.T) {
			is := is.New(t)
			h := start(t, upTo{yieldImages(1, nil), 1024}, func(cfg *engine.Config) {
				cfg.Policy, cfg.Models[0].Credits = c.policy, map[imagegen.Tier]imagegen.Credits{c.offered: 1}
			})
			quote := func(size string) error {
				_, err := h.engine.As(alice).Quote(t.Context(), imagegen.GenerateRequest{Model: "m", Prompt: "p",
					Size: parse(t, size), Quality: c.quality})
				return err
			}
			err := quote(c.asked)
			is.True(isCode(err, imagegen.ErrInvalidRequest))
			is.Equal(anySize.FindString(err.Error()), c.nearby)
			if c.nearby != "" {
				is.NoErr(quote(c.nearby))
			}
		})
	}
}

// A size that the model makes as it is counts as nearer than one that must be cut.
func TestNearestSizeNeedsNoCutting(t *testing.T) {
	is := is.New(t)
	p := yieldImages(1, nil)
	p.caps = imagegen.Capabilities{SizeRules: imagegen.SizeRules{Step: 16, MaxEdge: imagegen.MaxEdge,
		MaxPixels: imagegen.MaxEdge * imagegen.MaxEdge, MaxAspect: 4}}
	h := start(t, p, func(cfg *engine.Config) {
		cfg.Models[0].Credits = map[imagegen.Tier]imagegen.Credits{"1K": 1}
	})
	for asked, nearest := range map[string]string{"3000x3000": "1296x1296", "4000x3000": "1504x1120",
		"1000x3000": "752x2256"} {
		_, err := h.generate(imagegen.GenerateRequest{Size: parse(t, asked)})
		is.True(isCode(err, imagegen.ErrInvalidRequest))
		is.Equal(anySize.FindString(err.Error()), nearest)
	}
}

// A request without a size gets ratio auto, which is always on the list.
func TestRatioAutoIsOffered(t *testing.T) {
	is := is.New(t)
	h := start(t, yieldImages(1, nil), func(cfg *engine.Config) { cfg.Models[0].Ratios = []imagegen.Ratio{"1:1"} })
	models, err := h.engine.Models(t.Context())
	is.NoErr(err)
	is.Equal(models[0].Ratios, []imagegen.Ratio{imagegen.RatioAuto, "1:1"})
}

// Where the quality decides the tier, no other size would help, and none is named.
func TestRefusedTierNamesNoSize(t *testing.T) {
	is := is.New(t)
	h := start(t, yieldImages(1, nil), func(cfg *engine.Config) {
		cfg.Policy, cfg.Models[0].Credits = engine.QualityFirst, map[imagegen.Tier]imagegen.Credits{"1K": 1}
	})
	for _, size := range []string{"auto", "512x512"} {
		_, err := h.generate(imagegen.GenerateRequest{Size: parse(t, size), Quality: imagegen.QualityHigh})
		is.True(isCode(err, imagegen.ErrInvalidRequest))
		is.Equal(anySize.FindString(err.Error()), "")
	}
}

func parse(t *testing.T, size string) imagegen.Size {
	t.Helper()
	s, err := imagegen.ParseSize(size)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A size that is not made is refused before anything is charged, and the one that is named for it can be had.
func TestNearestSizeOfWhatIsMade(t *testing.T) {
	for name, c := range map[string]struct {
		can     imagegen.Capabilities
		refused string // by what is made alone
	}{
		"a list": {imagegen.Capabilities{Sizes: []imagegen.Size{{Width: 1024, Height: 1024},
			{Width: 1344, Height: 768}, {Width: 768, Height: 1344}}}, "1400x1000"},
		"rules": {imagegen.Capabilities{SizeRules: imagegen.SizeRules{Step: 16, MinEdge: 256, MaxEdge: 8192,
			MaxPixels: 2048 * 2048, MaxAspect: 4}}, "2049x2049"},
		"several": {imagegen.Capabilities{Offers: []imagegen.Capabilities{
			{Sizes: []imagegen.Size{{Width: 1024, Height: 1024}}},
			{Sizes: []imagegen.Size{{Width: 2560, Height: 1440}}}}}, "1025x1025"},
	} {
		t.Run(name, func(t *testing.T) {
			p := yieldImages(1, nil)
			p.caps = c.can
			h := start(t, p, func(*engine.Config) {})
			quote := func(size string) error {
				_, err := h.engine.As(alice).Quote(t.Context(), imagegen.GenerateRequest{Model: "m", Prompt: "p",
					Size: parse(t, size)})
				return err
			}
			for _, asked := range []string{c.refused, "4096x4096", "8192x4608", "3000x1000", "16x16", "1344x769",
				"100x8000"} {
				is := is.New(t)
				err := quote(asked)
				if err == nil && asked != c.refused {
					continue
				}
				is.True(isCode(err, imagegen.ErrInvalidRequest))
				is.NoErr(quote(anySize.FindString(err.Error())))
			}
		})
	}
}
