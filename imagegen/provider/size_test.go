package provider_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
)

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
				is.Equal(provider.SizeFor(ratio, imagegen.Tiers()[i]).String(), size)
			}
		})
	}
}

func TestSizeForKeepsRatioAndTier(t *testing.T) {
	for _, ratio := range imagegen.Ratios()[1:] {
		for _, tier := range imagegen.Tiers() {
			is := is.New(t)
			s := provider.SizeFor(ratio, tier)
			is.Equal(float64(s.Width)/float64(s.Height), ratio.Aspect())
			is.Equal(imagegen.TierOf(s.Area()), tier)
		}
	}
}

func TestRatioFor(t *testing.T) {
	reference := func(w, h int) []imagegen.ProviderReference {
		return []imagegen.ProviderReference{{Width: w, Height: h}, {Width: 1, Height: 3}}
	}
	for name, c := range map[string]struct {
		asked      imagegen.Ratio
		references []imagegen.ProviderReference
		of         []imagegen.Ratio
		want       imagegen.Ratio
	}{
		"the one asked for":           {"4:3", reference(1600, 900), imagegen.Ratios(), "4:3"},
		"of the first reference":      {"auto", reference(1600, 900), imagegen.Ratios(), "16:9"},
		"the nearest that can be had": {"auto", reference(1600, 900), []imagegen.Ratio{"auto", "1:1", "3:2"}, "3:2"},
		"without a reference":         {"auto", nil, []imagegen.Ratio{"auto", "16:9", "4:5"}, "4:5"},
		"a reference without a size":  {"auto", reference(0, 0), imagegen.Ratios(), "1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := imagegen.ProviderRequest{Ratio: c.asked, References: c.references}
			is.New(t).Equal(provider.RatioFor(r, c.of), c.want)
		})
	}
}
