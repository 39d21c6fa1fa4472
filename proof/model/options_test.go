package model_test

import (
	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen"
)

// maxSeed is the highest seed that the upstream takes.
const maxSeed = 1000

// someOptions are what an order asks for beyond its images. Some of it cannot be had.
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

// impossible reports whether an order asks for what cannot be had.
func (o *order) impossible() bool {
	q := o.request.Options
	return o.request.N > imagegen.MaxImages || q.Format == imagegen.FormatWebP || q.Background == imagegen.BackgroundTransparent ||
		q.Compression != nil && q.Format != imagegen.FormatJPEG || q.Seed != nil && *q.Seed+int64(o.request.N)-1 > maxSeed
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
