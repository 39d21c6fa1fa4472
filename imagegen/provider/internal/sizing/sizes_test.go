package sizing_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/sizing"
)

var flux = sizing.Sizes{Rules: sizing.Rules{Step: 16, MinEdge: 256, MaxEdge: 8192, MaxPixels: 2048 * 2048, MaxAspect: 4}}

func explicit(is *is.I, s sizing.Sizes, size string) imagegen.ProviderRequest {
	z, err := imagegen.ParseSize(size)
	is.NoErr(err)
	ratios, _ := s.Offer()
	return imagegen.ProviderRequest{Size: z, Tier: imagegen.TierOf(z.Area()), Ratio: imagegen.NearestRatio(z, ratios)}
}

func TestExplicitSizes(t *testing.T) {
	for asked, want := range map[string]string{
		"1024x1024": "1024x1024", // allowed: as it is
		"256x256":   "256x256",
		"1920x1080": "1920x1088", // to the next step
		"64x64":     "1024x1024", // too small: the tier's
		"100x300":   "576x1728",
	} {
		t.Run(asked, func(t *testing.T) {
			is := is.New(t)
			z, err := flux.Choose(explicit(is, flux, asked))
			is.NoErr(err)
			is.Equal(z.String(), want)
		})
	}
}

// Whatever is asked for, either an allowed size is chosen that fits, or one is named that can be had.
func TestAnySize(t *testing.T) {
	is := is.New(t)
	listed := sizing.Sizes{List: []imagegen.Size{{Width: 1024, Height: 1024}, {Width: 1344, Height: 768}, {Width: 768, Height: 1344}}}
	edges := []int{16, 17, 100, 250, 431, 512, 700, 768, 1000, 1024, 1080, 1344, 1448, 1920, 2047, 2048, 2049, 3000, 4096, 8192}
	refused := 0
	for _, s := range []sizing.Sizes{flux, listed} {
		for _, w := range edges {
			for _, h := range edges {
				r := explicit(is, s, imagegen.Size{Width: w, Height: h}.String())
				if max(w, h) > 3*min(w, h) {
					continue // refused before
				}
				z, err := s.Choose(r)
				if err == nil {
					is.NoErr(r.Fits(z))
					continue
				}
				refused++
				e, ok := errors.AsType[*imagegen.ProviderError](err)
				is.True(ok && e.Class == imagegen.ClassInvalid)
				_, nearest, ok := strings.Cut(e.Message, "the nearest is ")
				is.True(ok)
				_, err = s.Choose(explicit(is, s, nearest))
				is.NoErr(err)
			}
		}
	}
	is.True(refused > 0)
}

func TestRatioOfTheFirstReference(t *testing.T) {
	is := is.New(t)
	r := imagegen.ProviderRequest{Ratio: imagegen.RatioAuto, Tier: "2K"}
	z, err := flux.Choose(r)
	is.NoErr(err)
	is.Equal(z.String(), "2048x2048")
	r.References = []imagegen.ProviderReference{{Width: 1600, Height: 900}, {Width: 10, Height: 10}}
	z, err = flux.Choose(r)
	is.NoErr(err)
	is.Equal(z.String(), "2560x1440")
}

func TestOffer(t *testing.T) {
	is := is.New(t)
	ratios, tiers := flux.Offer()
	is.Equal(len(ratios), len(imagegen.Ratios()))
	is.Equal(tiers, []imagegen.Tier{"1K", "2K"})

	ratios, tiers = sizing.Sizes{Rules: sizing.Rules{Step: 32, MaxEdge: 1440, MaxPixels: 1440 * 1440, MaxAspect: 2}}.Offer()
	is.Equal(tiers, []imagegen.Tier{"1K", "2K"})
	for _, ratio := range ratios[1:] {
		is.True(math.Max(ratio.Aspect(), 1/ratio.Aspect()) <= 2)
	}
}

func TestCheck(t *testing.T) {
	for name, s := range map[string]sizing.Sizes{
		"nothing":              {},
		"no limit":             {Rules: sizing.Rules{Step: 16}},
		"a range that is none": {Rules: sizing.Rules{Step: 16, MinEdge: 512, MaxEdge: 256, MaxPixels: 1 << 20, MaxAspect: 2}},
		"a size of zero":       {List: []imagegen.Size{{}}},
		"no ratio's size":      {List: []imagegen.Size{{Width: 100, Height: 1000}}},
		"an empty list":        {List: []imagegen.Size{}},
	} {
		t.Run(name, func(t *testing.T) { is.New(t).True(s.Check() != nil) })
	}
	is.New(t).NoErr(flux.Check())
}
