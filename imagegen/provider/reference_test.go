package provider_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// file is the bytes of a reference image.
type file []byte

func (f file) Open(context.Context) (io.ReadCloser, error) {
	if f == nil {
		return nil, errors.New("gone")
	}
	return io.NopCloser(bytes.NewReader(f)), nil
}

// plain is a reference image of one colour.
func plain(is *is.I, width, height int, c color.Color) imagegen.ProviderReference {
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(picture, picture.Rect, image.NewUniform(c), image.Point{}, draw.Src)
	var b bytes.Buffer
	is.NoErr(png.Encode(&b, picture))
	return imagegen.ProviderReference{Reference: file(b.Bytes()), MediaType: "image/png", Size: int64(b.Len()),
		Width: width, Height: height}
}

func TestSizeOfAnImage(t *testing.T) {
	tall := plain(is.New(t), 16, 24, color.Black)
	for name, c := range map[string]struct {
		request imagegen.ProviderRequest
		want    string
	}{
		"ratio and tier": {imagegen.ProviderRequest{Ratio: "16:9", Tier: "2K"}, "2560x1440"},
		"auto":           {imagegen.ProviderRequest{Ratio: "auto", Tier: "1K"}, "1024x1024"},
		"explicit": {imagegen.ProviderRequest{Ratio: "3:2", Tier: "1K", Size: imagegen.Size{Width: 1001,
			Height: 667}}, "1001x667"},
		"auto with a reference": {imagegen.ProviderRequest{Ratio: "auto", Tier: "1K",
			References: []imagegen.ProviderReference{tall}}, "832x1248"},
		"ratio and reference": {imagegen.ProviderRequest{Ratio: "1:1", Tier: "1K",
			References: []imagegen.ProviderReference{tall}}, "1024x1024"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			c.request.Prompt, c.request.N = "a fox", 1
			for i, err := range (&provider.Fake{}).Generate(t.Context(), c.request) {
				is.NoErr(err)
				header, err := png.DecodeConfig(i.Body)
				is.NoErr(err)
				is.Equal(imagegen.Size{Width: header.Width, Height: header.Height}.String(), c.want)
			}
		})
	}
}

// warmth is how much more red than blue a picture is.
func warmth(is *is.I, body string) (sum int) {
	picture, err := png.Decode(strings.NewReader(body))
	is.NoErr(err)
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			r, _, b, _ := picture.At(x, y).RGBA()
			sum += int(r>>8) - int(b>>8)
		}
	}
	return sum
}

func TestReferenceTintsThePicture(t *testing.T) {
	is := is.New(t)
	r := small("a lake by day", 1)
	of := func(c color.Color) int {
		r.References = []imagegen.ProviderReference{plain(is, 20, 20, c)}
		images, err := providertest.Read(t.Context(), &provider.Fake{}, r)
		is.NoErr(err)
		return warmth(is, images[0])
	}
	red, blue := of(color.RGBA{R: 255, A: 255}), of(color.RGBA{B: 255, A: 255})
	is.True(red > 0 && blue < 0) // the picture takes on the reference's colour
}

func TestReferenceThatCannotBeRead(t *testing.T) {
	is := is.New(t)
	r := small("a fox", 1)
	whole := plain(is, 20, 20, color.White)
	cut := whole
	cut.Reference = file(whole.Reference.(file)[:40])
	gone := whole
	gone.Reference = file(nil)
	for reference, class := range map[*imagegen.ProviderReference]string{&whole: "<nil>", &cut: "invalid",
		&gone: "unavailable"} {
		r.References = []imagegen.ProviderReference{*reference}
		_, err := providertest.Read(t.Context(), &provider.Fake{}, r)
		is.Equal(classOf(err), class)
	}
	cut.Width, cut.Height = 10_000, 10_000 // too large to be decoded for its colour
	r.References = []imagegen.ProviderReference{cut}
	_, err := providertest.Read(t.Context(), &provider.Fake{}, r)
	is.NoErr(err)
}
