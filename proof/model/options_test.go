package model_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"io"

	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen"
)

// maxSeed is the highest seed that the upstream takes.
const maxSeed = 1000

// someOptions are what an order asks for beyond its images. The provider refuses some of it.
func someOptions(t *rapid.T) imagegen.Options {
	return pick(t, "options", imagegen.Options{}, imagegen.Options{}, imagegen.Options{},
		imagegen.Options{Format: imagegen.FormatPNG, Seed: new(int64(7))},
		imagegen.Options{Format: imagegen.FormatJPEG},
		imagegen.Options{Format: imagegen.FormatJPEG, Compression: new(80), Background: imagegen.BackgroundAuto},
		imagegen.Options{Background: imagegen.BackgroundOpaque},
		imagegen.Options{Seed: new(int64(maxSeed - 1))}, // enough for two images
		imagegen.Options{Format: imagegen.FormatWebP},
		imagegen.Options{Compression: new(80)},
		imagegen.Options{Background: imagegen.BackgroundTransparent})
}

// transparent is a picture that a caller hands in, as a reference image or as its mask.
type transparent struct{}

func (transparent) Open(context.Context) (io.ReadCloser, error) {
	var b bytes.Buffer
	err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, edge, edge)))
	return io.NopCloser(&b), err
}

// addFiles has an order come with a reference image, a mask, or both. A mask alone belongs to nothing.
func addFiles(t *rapid.T, r *imagegen.GenerateRequest) {
	r.References, r.Mask = nil, nil
	files := pick(t, "files", "none", "none", "none", "reference", "both", "mask")
	if files == "reference" || files == "both" {
		r.References = []imagegen.Reference{transparent{}}
	}
	if files == "mask" || files == "both" {
		r.Mask = transparent{}
	}
}

// files is how many an order keeps in the spool until it has ended.
func (o *order) files() (n int) {
	if !o.accepted() || o.phase == ended || o.phase == erased {
		return 0
	}
	if o.request.Mask != nil {
		n++
	}
	return n + len(o.request.References)
}

// impossible reports whether an order asks for what the provider refuses.
func (o *order) impossible() bool {
	q := o.request.Options
	return o.request.N > imagegen.MaxImages || q.Format == imagegen.FormatWebP ||
		q.Background == imagegen.BackgroundTransparent ||
		q.Compression != nil && q.Format != imagegen.FormatJPEG || q.Seed != nil &&
		*q.Seed+int64(o.request.N)-1 > maxSeed ||
		o.request.Mask != nil && len(o.request.References) == 0
}

// options are those that an order stands for: the default is not asked for.
func (o *order) options() imagegen.Options {
	q := o.request.Options
	if q.Background == imagegen.BackgroundAuto {
		q.Background = ""
	}
	return q
}

// mediaType is what the images of an order come as.
func (o *order) mediaType() string {
	if o.request.Options.Format == imagegen.FormatJPEG {
		return "image/jpeg"
	}
	return "image/png" // as the upstream makes them
}

// provenance is what answers say of them.
func (o *order) provenance() imagegen.Provenance {
	if o.mediaType() == "image/jpeg" {
		return imagegen.ProvenanceRewritten
	}
	return imagegen.ProvenanceNone
}
