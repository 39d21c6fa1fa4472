package engine_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
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

// With size auto the provider chooses the shape, but none beyond those that the model lists.
func TestShapeThatTheProviderChooses(t *testing.T) {
	for _, c := range []struct {
		width, height int
		ratios        []imagegen.Ratio
		delivered     int
	}{
		{3072, 1024, nil, 1}, {1024, 3072, nil, 1}, {1536, 640, []imagegen.Ratio{"1:1", "21:9"}, 1},
		{65_500, 16, nil, 0}, {16, 65_500, nil, 0}, {2048, 1024, []imagegen.Ratio{"1:1", "4:3"}, 0},
		{4096, 1024, []imagegen.Ratio{}, 1}, // none is listed
	} {
		h := start(t, yieldBytes(pngOf(c.width, c.height)), func(cfg *engine.Config) {
			cfg.Models[0].Ratios = c.ratios
		})
		result, _ := h.generate(imagegen.GenerateRequest{})
		h.is.Equal(len(result.Images), c.delivered)
		b, err := h.engine.As(alice).Balance(t.Context())
		h.is.NoErr(err)
		h.is.Equal(int(b.Credits), 100-c.delivered)
	}
}
