package imagegen_test

import (
	"math"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

var flux = imagegen.Capabilities{SizeRules: imagegen.SizeRules{Step: 16, MinEdge: 256, MaxEdge: 8192,
	MaxPixels: 2048 * 2048, MaxAspect: 4}}.WithDefaults()

func parse(t *testing.T, size string) imagegen.Size {
	t.Helper()
	s, err := imagegen.ParseSize(size)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func explicit(t *testing.T, c imagegen.Capabilities, size string) imagegen.ProviderRequest {
	z := parse(t, size)
	return imagegen.ProviderRequest{N: 1, Size: z, Tier: imagegen.TierOf(z.Area()), Ratio: imagegen.NearestRatio(z,
		c.Ratios)}
}

func TestChooseExplicitSizes(t *testing.T) {
	for asked, want := range map[string]string{
		"1024x1024": "1024x1024", // allowed: as it is
		"256x256":   "256x256",
		"1920x1080": "1920x1088", // to the next step
		"64x64":     "1024x1024", // too small: the usual one of the tier
		"100x300":   "576x1728",
	} {
		t.Run(asked, func(t *testing.T) {
			is := is.New(t)
			z, err := flux.Choose(explicit(t, flux, asked))
			is.NoErr(err)
			is.Equal(z.String(), want)
		})
	}
}

// For each request an allowed size that fits is chosen, or there is none.
func TestChooseAnySize(t *testing.T) {
	is := is.New(t)
	listed := imagegen.Capabilities{Sizes: []imagegen.Size{{Width: 1024, Height: 1024}, {Width: 1344, Height: 768},
		{Width: 768, Height: 1344}}}.WithDefaults()
	edges := []string{"16", "17", "100", "250", "431", "512", "700", "768", "1000", "1024", "1080", "1344", "1448",
		"1920", "2047", "2048", "2049", "3000", "4096", "8192"}
	refused := 0
	for _, c := range []imagegen.Capabilities{flux, listed, {}} {
		for _, w := range edges {
			for _, h := range edges {
				r := explicit(t, c.WithDefaults(), w+"x"+h)
				z, err := c.Choose(r)
				if err != nil {
					refused++
					continue
				}
				is.NoErr(r.Fits(z))
			}
		}
	}
	is.True(refused > 0)
}

func TestChooseByTheFirstReference(t *testing.T) {
	wide := []imagegen.ProviderReference{{Width: 1600, Height: 900}, {Width: 10, Height: 10}}
	narrow := flux
	narrow.Ratios = []imagegen.Ratio{imagegen.RatioAuto, "1:1", "3:2"}
	chooses := flux
	chooses.AutoTiers = []imagegen.Tier{imagegen.Tier2K}
	for name, c := range map[string]struct {
		can        imagegen.Capabilities
		references []imagegen.ProviderReference
		want       string
	}{
		"no reference":                {flux, nil, "2048x2048"},
		"a reference":                 {flux, wide, "2560x1440"},
		"the nearest that can be had": {narrow, wide, "2496x1664"},
		"one of unknown size":         {flux, make([]imagegen.ProviderReference, 1), "2048x2048"},
		"the provider's own choice":   {chooses, wide, "auto"},
		"any size":                    {imagegen.Capabilities{}, wide, "2560x1440"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			z, err := c.can.Choose(imagegen.ProviderRequest{Ratio: imagegen.RatioAuto, Tier: imagegen.Tier2K,
				References: c.references})
			is.NoErr(err)
			is.Equal(z.String(), c.want)
		})
	}
}

func TestDefaultsFollowTheSizes(t *testing.T) {
	is := is.New(t)
	is.Equal(flux.Ratios, imagegen.Ratios())
	is.Equal(flux.Tiers, []imagegen.Tier{"1K", "2K"})
	c := imagegen.Capabilities{SizeRules: imagegen.SizeRules{Step: 32, MaxEdge: 1440, MaxPixels: 1440 * 1440,
		MaxAspect: 2}}.WithDefaults()
	is.Equal(c.Tiers, []imagegen.Tier{"1K", "2K"})
	for _, ratio := range c.Ratios[1:] {
		is.True(math.Max(ratio.Aspect(), 1/ratio.Aspect()) <= 2)
	}
	is.Equal(imagegen.Capabilities{}.WithDefaults().Ratios, imagegen.Ratios())
	is.Equal(imagegen.Capabilities{}.WithDefaults().Tiers, imagegen.Tiers())
}

func TestValidate(t *testing.T) {
	rules := func(r imagegen.SizeRules) imagegen.Capabilities { return imagegen.Capabilities{SizeRules: r} }
	for name, c := range map[string]imagegen.Capabilities{
		"no limit": rules(imagegen.SizeRules{Step: 16}),
		"a range that is none": rules(imagegen.SizeRules{Step: 16, MinEdge: 512, MaxEdge: 256, MaxPixels: 1 << 20,
			MaxAspect: 2}),
		"a size of zero":      {Sizes: []imagegen.Size{{}}},
		"no ratio's size":     {Sizes: []imagegen.Size{{Width: 100, Height: 1000}}},
		"an empty list":       {Sizes: []imagegen.Size{}},
		"more than there may": {MinReferences: 2, MaxReferences: 1},
		"fewer than no image": {MaxImages: -1},
		"one of several":      {Offers: []imagegen.Capabilities{{}, {MaxPrompt: -1}}},
	} {
		t.Run(name, func(t *testing.T) { is.New(t).True(c.Validate() != nil) })
	}
	is.New(t).NoErr(flux.Validate())
	is.New(t).NoErr(imagegen.Capabilities{}.Validate())
}

func TestSizeFor(t *testing.T) {
	for ratio, want := range map[imagegen.Ratio]string{
		"auto": "1024x1024 2048x2048 2880x2880",
		"1:1":  "1024x1024 2048x2048 2880x2880",
		"5:4":  "1120x896 2240x1792 3200x2560",
		"4:3":  "1152x864 2304x1728 3264x2448",
		"3:2":  "1248x832 2496x1664 3504x2336",
		"16:9": "1280x720 2560x1440 3840x2160",
		"2:1":  "1440x720 2880x1440 3840x1920",
		"21:9": "1456x624 3024x1296 3808x1632",
		"3:1":  "1728x576 3504x1168 3840x1280",
		"9:16": "720x1280 1440x2560 2160x3840",
		"1:3":  "576x1728 1168x3504 1280x3840",
	} {
		t.Run(string(ratio), func(t *testing.T) {
			is := is.New(t)
			for i, size := range strings.Fields(want) {
				is.Equal(imagegen.SizeFor(ratio, imagegen.Tiers()[i]).String(), size)
			}
		})
	}
}

func TestSizeForKeepsRatioAndTier(t *testing.T) {
	for _, ratio := range imagegen.Ratios()[1:] {
		for _, tier := range imagegen.Tiers() {
			is := is.New(t)
			s := imagegen.SizeFor(ratio, tier)
			is.Equal(float64(s.Width)/float64(s.Height), ratio.Aspect())
			is.Equal(imagegen.TierOf(s.Area()), tier)
		}
	}
}
