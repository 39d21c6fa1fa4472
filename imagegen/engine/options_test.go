package engine_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// An option that a model does not declare is refused, by name, and costs nothing.
func TestOptionsThatAModelDoesNotDeclare(t *testing.T) {
	reference := bytesReference(pngOf(32, 32))
	for field, q := range map[string]imagegen.GenerateRequest{
		"output_format":      {Options: imagegen.Options{Format: imagegen.FormatWebP}},
		"output_compression": {Options: imagegen.Options{Compression: new(50)}},
		"background":         {Options: imagegen.Options{Background: imagegen.BackgroundTransparent}},
		"seed":               {Options: imagegen.Options{Seed: new(int64(0))}},
		"mask":               {References: []imagegen.Reference{reference}, Mask: reference},
	} {
		t.Run(field, func(t *testing.T) {
			for _, caps := range []imagegen.Capabilities{anything,
				{Offers: []imagegen.Capabilities{anything, anything}}} {
				is := is.New(t)
				p := yieldImages(1, nil)
				p.caps = caps
				h := start(t, p)
				for _, q.IdempotencyKey = range []string{"", "k"} {
					before := h.balance()
					_, err := h.generate(q)
					e, ok := errors.AsType[*imagegen.Error](err)
					is.True(ok && e.Code == imagegen.CodeInvalidRequest)
					is.True(strings.HasPrefix(e.Message, field+" "))
					is.Equal(h.balance(), before)
				}
				h.audit()
			}
		})
	}
}

// Of providers that can do one thing each, none can do all of them at once, and the refusal says what to leave out.
func TestOptionsOfSeveralProviders(t *testing.T) {
	is := is.New(t)
	p := yieldImages(1, nil)
	p.caps = imagegen.Capabilities{Offers: []imagegen.Capabilities{{MaxSeed: 9}, {Transparent: true},
		{Formats: []imagegen.Format{imagegen.FormatWebP}}}}
	h := start(t, p)
	infos, err := h.engine.Models(t.Context())
	is.NoErr(err)
	is.Equal(infos[0].Formats, imagegen.Formats())
	is.Equal(infos[0].Backgrounds, imagegen.Backgrounds())
	is.Equal(infos[0].MaxSeed, int64(9))
	_, err = h.generate(imagegen.GenerateRequest{Options: imagegen.Options{Seed: new(int64(9))}})
	is.NoErr(err)
	_, err = h.generate(imagegen.GenerateRequest{Options: imagegen.Options{Seed: new(int64(9)),
		Background: imagegen.BackgroundTransparent}})
	is.True(isCode(err, imagegen.ErrInvalidRequest))
	is.True(strings.Contains(err.Error(), "leave out background, or leave out seed"))
}

// shining is a picture whose left half is transparent.
func shining(edge int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, edge, edge))
	for y := range edge {
		for x := edge / 2; x < edge; x++ {
			m.Set(x, y, color.NRGBA{R: 200, A: 255})
		}
	}
	return m
}

func encodedAs(t *testing.T, m image.Image, as imagegen.Format) []byte {
	t.Helper()
	var b bytes.Buffer
	err := png.Encode(&b, m)
	if as == imagegen.FormatJPEG {
		b.Reset()
		err = jpeg.Encode(&b, m, nil)
	}
	is.New(t).NoErr(err)
	return b.Bytes()
}

// The format and the background asked for are what is stored, whatever the provider makes, or the image counts as not
// delivered.
func TestOptionsAreDelivered(t *testing.T) {
	size := imagegen.Size{Width: 64, Height: 64}
	half := imagegen.Size{Width: 32, Height: 32}
	made := map[string][]byte{"png": encodedAs(t, shining(64), imagegen.FormatPNG),
		"jpeg": encodedAs(t, image.NewGray(image.Rect(0, 0, 64, 64)), imagegen.FormatJPEG), "webp": webpOf(64),
		"opaque png": encodedAs(t, image.NewGray(image.Rect(0, 0, 64, 64)), imagegen.FormatPNG)}
	for name, c := range map[string]struct {
		made string
		size imagegen.Size
		asks imagegen.Options
		want imagegen.Format // "": it counts as not delivered
		same bool            // its bytes are the provider's
		left color.NRGBA     // of the left half, unless they are
	}{
		"a PNG as it is":  {"png", size, imagegen.Options{Format: "png"}, "png", true, color.NRGBA{}},
		"a JPEG as it is": {"jpeg", size, imagegen.Options{Format: "jpeg"}, "jpeg", true, color.NRGBA{}},
		"a WebP as it is": {"webp", size, imagegen.Options{Format: "webp"}, "webp", true, color.NRGBA{}},
		"PNG to JPEG": {"png", size, imagegen.Options{Format: "jpeg"}, "jpeg", false,
			color.NRGBA{255, 255, 255, 255}},
		"JPEG to PNG": {"jpeg", size, imagegen.Options{Format: "png"}, "png", false,
			color.NRGBA{0, 0, 0, 255}},
		"WebP to PNG": {"webp", size, imagegen.Options{Format: "png"}, "png", false, color.NRGBA{}},
		"JPEG of a quality": {"jpeg", size, imagegen.Options{Format: "jpeg", Compression: new(7)}, "jpeg",
			false, color.NRGBA{0, 0, 0, 255}},
		"PNG to a smaller JPEG": {"png", half, imagegen.Options{Format: "jpeg"}, "jpeg", false,
			color.NRGBA{255, 255, 255, 255}},
		"opaque": {"png", size, imagegen.Options{Background: "opaque"}, "png", false,
			color.NRGBA{255, 255, 255, 255}},
		"opaque already": {"opaque png", size, imagegen.Options{Background: "opaque"}, "png", true,
			color.NRGBA{}},
		"opaque already, as JPEG": {"jpeg", size, imagegen.Options{Background: "opaque"}, "jpeg", true,
			color.NRGBA{}},
		"transparent": {"png", size, imagegen.Options{Background: "transparent"}, "png", true,
			color.NRGBA{}},
		"transparent and smaller": {"png", half, imagegen.Options{Background: "transparent"}, "png", false,
			color.NRGBA{}},
		"WebP that is a PNG": {"png", size, imagegen.Options{Format: "webp"}, "", false, color.NRGBA{}},
		"transparent PNG that is not": {"opaque png", size, imagegen.Options{Background: "transparent"}, "", false,
			color.NRGBA{}},
		"transparent that is a JPEG": {"jpeg", size, imagegen.Options{Background: "transparent"}, "", false,
			color.NRGBA{}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, verify := range imagegen.Verifications() {
				is := is.New(t)
				p := yieldBytes(made[c.made]).verified(verify)
				p.caps.Formats, p.caps.Transparent = imagegen.Formats(), true
				h := start(t, p)
				before := h.balance()
				got, err := h.generate(imagegen.GenerateRequest{Size: c.size, Options: c.asks})
				if c.want == "" {
					is.True(isCode(err, imagegen.ErrGenerationFailed))
					is.Equal(h.balance(), before)
					continue
				}
				is.NoErr(err)
				is.Equal(got.Images[0].MediaType, c.want.MediaType())
				f, err := h.engine.OpenImage(t.Context(), got.Images[0].ID)
				is.NoErr(err)
				stored, err := io.ReadAll(f)
				is.NoErr(err)
				is.Equal(bytes.Equal(stored, made[c.made]), c.same)
				h.audit()
				if c.same || c.made == "webp" {
					continue
				}
				picture, _, err := image.Decode(bytes.NewReader(stored))
				is.NoErr(err)
				is.Equal(picture.Bounds().Size(), image.Pt(c.size.Width, c.size.Height))
				is.Equal(color.NRGBAModel.Convert(picture.At(2, 2)), c.left)
			}
		})
	}
}

// A quality that the provider sees to is not seen to twice.
func TestCompressionOfTheProvider(t *testing.T) {
	is := is.New(t)
	made := encodedAs(t, image.NewGray(image.Rect(0, 0, 64, 64)), imagegen.FormatJPEG)
	p := yieldBytes(made).verified(imagegen.VerifyStructure)
	p.caps.Compression = true
	h := start(t, p)
	got, err := h.generate(imagegen.GenerateRequest{Size: imagegen.Size{Width: 64, Height: 64},
		Options: imagegen.Options{Format: "jpeg", Compression: new(1)}})
	is.NoErr(err)
	f, err := h.engine.OpenImage(t.Context(), got.Images[0].ID)
	is.NoErr(err)
	stored, err := io.ReadAll(f)
	is.NoErr(err)
	is.True(bytes.Equal(stored, made))
}

// A provider sees what was asked for; an upload that is not a mask is not kept.
func TestProviderSeesMaskAndOptions(t *testing.T) {
	is := is.New(t)
	var seen imagegen.ProviderRequest
	p := yieldBytes(pngOf(64, 64))
	draw, caps := p.do, imagegen.Capabilities{MaxReferences: 2, Mask: true, MaxSeed: 7}
	p.caps = caps
	p.do = func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
		seen = r
		draw(ctx, r, yield)
	}
	h := start(t, p)
	mask := bytesReference(encodedAs(t, shining(32), imagegen.FormatPNG))
	seed := int64(3)
	q := imagegen.GenerateRequest{Size: imagegen.Size{Width: 64, Height: 64},
		References: []imagegen.Reference{bytesReference(pngOf(32, 32)), bytesReference(pngOf(16, 16))}, Mask: mask,
		Options: imagegen.Options{Seed: &seed, Background: imagegen.BackgroundAuto}}
	_, err := h.generate(q)
	is.NoErr(err)
	seed++ // the caller's own
	is.Equal(len(seen.References), 2)
	is.Equal(seen.Mask.Width, 32)
	is.Equal(*seen.Options.Seed, int64(3))
	is.Equal(seen.Options.Background, imagegen.Background(""))
	q.References = q.References[1:]
	_, err = h.generate(q)
	is.True(isCode(err, imagegen.ErrInvalidRequest))
	is.True(strings.Contains(err.Error(),
		"mask is 32 x 32 and must be as large as the first reference image, which is 16 x 16"))
	h.audit()
}
