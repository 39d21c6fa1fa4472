package upstream_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

func TestFits(t *testing.T) {
	auto, explicit := "auto", "1000x500"
	for _, c := range []struct {
		got, size string
		ratio     imagegen.Ratio
		tier      imagegen.Tier
		want      bool
	}{
		{"1376x768", auto, "16:9", "1K", true}, // less than 2 % off
		{"1408x768", auto, "16:9", "1K", false},
		{"1376x768", auto, "16:9", "2K", false},
		{"2752x1536", auto, "16:9", "1K", true}, // a higher tier
		{"640x480", auto, "auto", "1K", true},
		{"1000x500", explicit, "2:1", "1K", true},
		{"999x500", explicit, "2:1", "1K", false}, // never up
		{"1200x600", explicit, "16:9", "1K", true},
		{"1280x720", explicit, "16:9", "1K", true}, // the ratio's shape, to be cropped
		{"1280x720", explicit, "2:1", "1K", false},
	} {
		is := is.New(t)
		got, err := imagegen.ParseSize(c.got)
		is.NoErr(err)
		size, err := imagegen.ParseSize(c.size)
		is.NoErr(err)
		is.Equal(upstream.Fits(got, imagegen.ProviderRequest{Size: size, Ratio: c.ratio, Tier: c.tier}), c.want)
	}
	is.New(t).True(!upstream.Fits(imagegen.Size{}, imagegen.ProviderRequest{Ratio: "1:1", Tier: "1K"}))
}
