package providertest

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// drawn makes the images of r with p, and returns the first of them decoded, and its format.
func drawn(t *testing.T, p imagegen.Provider, r imagegen.ProviderRequest) (image.Image, imagegen.Format) {
	t.Helper()
	is := is.New(t)
	is.NoErr(imagegen.CheckRequest(p, r)) // what is declared is not refused
	images, ended := Read(t.Context(), p, r)
	is.NoErr(ended)
	is.Equal(len(images), r.N)
	picture, format, err := image.Decode(strings.NewReader(images[0]))
	is.NoErr(err)
	return picture, imagegen.Format(format)
}

// formats: each declared format is made when it is asked for.
func formats(t *testing.T, c Config) {
	p := c.New(t)
	can := p.Capabilities()
	for _, format := range imagegen.Formats() {
		if !slices.Contains(can.Formats, format) {
			continue
		}
		r := c.request(p)
		r.Size, r.Ratio, r.Tier, r.Options.Format = imagegen.Size{}, ratios(p)[0], tiers(p)[0], format
		_, made := drawn(t, p, r)
		if made != format {
			t.Errorf("%s was asked for and %s made", format, made)
		}
	}
}

// transparent: with a transparent background, something in the image is transparent.
func transparent(t *testing.T, c Config) {
	p := c.New(t)
	if !p.Capabilities().Transparent {
		return
	}
	is := is.New(t)
	r := c.request(p)
	r.Options.Background = imagegen.BackgroundTransparent
	picture, _ := drawn(t, p, r)
	opaque, ok := picture.(interface{ Opaque() bool })
	is.True(ok && !opaque.Opaque()) // something of it is transparent
}

// seeds: seeds up to the declared one are taken, and the request's seed is not changed.
func seeds(t *testing.T, c Config) {
	p := c.New(t)
	can := p.Capabilities()
	if can.MaxSeed == 0 {
		return
	}
	is := is.New(t)
	for _, seed := range []int64{0, can.MaxSeed} { // the lowest and the highest
		r := c.request(p)
		r.Options.Seed = &seed
		drawn(t, p, r)
	}
	r := c.request(p)
	r.N, r.Options.Seed = maxImages(p), new(int64(7))
	if imagegen.CheckRequest(p, r) == nil {
		sizes, ended := Collect(t.Context(), p, r)
		is.NoErr(ended)
		is.Equal(len(sizes), r.N)
	}
	is.Equal(*r.Options.Seed, int64(7)) // the request is the caller's
}

// masks: a mask is read, and closed as often as it is opened.
func masks(t *testing.T, c Config) {
	p := c.New(t)
	if !p.Capabilities().Mask {
		return
	}
	is := is.New(t)
	r := c.request(p)
	attached := attach(is, &r, 1)
	hole := image.NewNRGBA(image.Rect(0, 0, r.References[0].Width, r.References[0].Height))
	for y := range hole.Rect.Dy() {
		hole.Set(0, y, color.Black)
	}
	var b bytes.Buffer
	is.NoErr(png.Encode(&b, hole))
	mask := &reference{bytes: b.Bytes()}
	r.Mask = &imagegen.ProviderReference{Reference: mask, MediaType: "image/png", Size: int64(b.Len()),
		Width: hole.Rect.Dx(), Height: hole.Rect.Dy()}
	if imagegen.CheckRequest(p, r) != nil { // it takes masks with more references than one
		attached = append(attached, attach(is, &r, p.Capabilities().MaxReferences-1)...)
	}
	drawn(t, p, r)
	is.True(mask.opened.Load() > 0) // the mask was read
	for _, f := range append(attached, mask) {
		is.Equal(f.opened.Load(), f.closed.Load())
	}
}
