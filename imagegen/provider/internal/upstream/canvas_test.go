package upstream_test

import (
	"fmt"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

func explicit(is *is.I, size string) imagegen.ProviderRequest {
	z, err := imagegen.ParseSize(size)
	is.NoErr(err)
	return imagegen.ProviderRequest{Size: z, Ratio: imagegen.NearestRatio(z, imagegen.Ratios()),
		Tier: imagegen.TierOf(z.Area())}
}

func TestCanvas(t *testing.T) {
	for _, c := range []struct {
		canvas      upstream.Canvas
		asked, want string
	}{
		{upstream.Canvas{Step: 8, BestEdge: 1024}, "1024x1024", "1024x1024"},
		{upstream.Canvas{Step: 8, BestEdge: 1024}, "1920x1080", "1920x1080"},
		{upstream.Canvas{Step: 16, BestEdge: 1024}, "1920x1080", "1920x1088"},
		{upstream.Canvas{Step: 8, BestEdge: 1024}, "1001x667", "1008x672"},
		{upstream.Canvas{Step: 8, BestEdge: 1024}, "64x64", "1024x1024"},
		{upstream.Canvas{Step: 8, BestEdge: 1024}, "100x300", "592x1776"},
		{upstream.Canvas{Step: 8, BestEdge: 512}, "512x512", "512x512"},
		{upstream.Canvas{Step: 8, BestEdge: 512}, "16x16", "512x512"},
		{upstream.Canvas{Step: 16, BestEdge: 1024}, "3840x2160", "3840x2160"},
	} {
		is := is.New(t)
		got, err := c.canvas.Size(explicit(is, c.asked))
		is.NoErr(err)
		is.Equal(got.String(), c.want)
	}
}

// For every size, one is drawn that the engine can make it of, or it is refused.
func TestCanvasForAnySize(t *testing.T) {
	is := is.New(t)
	edges := []int{16, 17, 100, 209, 362, 431, 512, 627, 655, 724, 768, 1000, 1024, 1080, 1448, 1920, 2160, 2880, 2896,
		3833, 3840, 3841, 6000, 8192}
	refused, drawn := 0, 0
	for _, c := range []upstream.Canvas{{Step: 8, BestEdge: 512}, {Step: 8, BestEdge: 1024},
		{Step: 16, BestEdge: 1024}} {
		for _, w := range edges {
			for _, h := range edges {
				if max(w, h) > 3*min(w, h) {
					continue // refused before
				}
				r := explicit(is, fmt.Sprintf("%dx%d", w, h))
				z, err := c.Size(r)
				if err == nil {
					drawn++
					is.NoErr(c.Capabilities().Check(r))
					is.NoErr(r.Fits(z))
					is.True(z.Width%c.Step == 0 && z.Height%c.Step == 0)
					continue
				}
				refused++
				is.True(c.Capabilities().Check(r) != nil) // before it is charged
			}
		}
	}
	is.True(refused > 0 && drawn > 0)
}

func TestCanvasAuto(t *testing.T) {
	is := is.New(t)
	c := upstream.Canvas{Step: 16, BestEdge: 1024}
	wide := []imagegen.ProviderReference{{Width: 1600, Height: 900}}
	for _, r := range []struct {
		imagegen.ProviderRequest
		want string
	}{
		{imagegen.ProviderRequest{Ratio: "auto", Tier: "1K"}, "1024x1024"},
		{imagegen.ProviderRequest{Ratio: "auto", Tier: "2K", References: wide}, "2560x1440"},
		{imagegen.ProviderRequest{Ratio: "2:3", Tier: "1K", References: wide}, "832x1248"},
		{imagegen.ProviderRequest{Ratio: "auto", Tier: "1K", References: make([]imagegen.ProviderReference, 1)},
			"1024x1024"}, // as Check sees them
	} {
		z, err := c.Size(r.ProviderRequest)
		is.NoErr(err)
		is.Equal(z.String(), r.want)
	}
}
