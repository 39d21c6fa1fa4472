package engine_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

func TestFits(t *testing.T) {
	auto, explicit := "auto", "1000x500"
	for _, c := range []struct {
		got, size string
		ratio     imagegen.Ratio
		tier      imagegen.Tier
		not       string // why it does not fit
	}{
		{"1376x768", auto, "16:9", "1K", ""}, // less than 2 % off
		{"1408x768", auto, "16:9", "1K", "not the ratio 16:9"},
		{"1376x768", auto, "16:9", "2K", "tier 1K instead of 2K"},
		{"2752x1536", auto, "16:9", "1K", ""}, // a higher tier
		{"640x480", auto, "auto", "1K", ""},
		{"1000x500", explicit, "2:1", "1K", ""},
		{"999x500", explicit, "2:1", "1K", "cannot be scaled up to 1000x500"},
		{"1200x600", explicit, "16:9", "1K", ""},
		{"1280x720", explicit, "16:9", "1K", ""}, // the ratio's shape, to be cropped
		{"1280x720", explicit, "2:1", "1K", "not the shape of 1000x500"},
	} {
		is := is.New(t)
		got, err := imagegen.ParseSize(c.got)
		is.NoErr(err)
		size, err := imagegen.ParseSize(c.size)
		is.NoErr(err)
		err = imagegen.ProviderRequest{Size: size, Ratio: c.ratio, Tier: c.tier}.Fits(got)
		is.Equal(err == nil, c.not == "")
		is.True(err == nil || strings.Contains(err.Error(), c.not))
	}
	is.New(t).True(imagegen.ProviderRequest{Ratio: "1:1", Tier: "1K"}.Fits(imagegen.Size{}) != nil)
}
