package imagegen

import (
	"cmp"
	"slices"
)

// Options are what a request can ask for beyond prompt and size. The zero value asks for
// nothing. The service delivers what was asked for, or refuses the request before the
// charge: Capabilities and ModelInfo say what a model can do.
type Options struct {
	// Format is the file format of the images; "": the one that the model makes. Every
	// model offers PNG and JPEG, since the engine can write both.
	Format Format

	// Compression is the quality of a JPEG or WebP, from 0 (smallest file) to MaxCompression
	// (best quality); nil: the default. It requires Format to be one of the two.
	Compression *int

	// Background is what is behind the subject; "": the model chooses, as with BackgroundAuto.
	Background Background

	// Seed initializes the model's random numbers; at least 0, and at most ModelInfo.MaxSeed
	// for the last image. nil: a random one. A model that makes images one by one gives each
	// further image the next seed. How similar images with equal seeds are depends on the model.
	Seed *int64
}

// MaxCompression is the maximum of Options.Compression: the best quality.
const MaxCompression = 100

// Limits on a mask.
const (
	// MaxMaskBytes is the maximum size of a mask's file.
	MaxMaskBytes = 4_000_000
	// MaxMaskPixels is the maximum number of pixels of a mask.
	MaxMaskPixels = 4096 * 4096
)

// Clone returns options that share no memory with o.
func (o Options) Clone() Options {
	o.Compression, o.Seed = clone(o.Compression), clone(o.Seed)
	return o
}

func clone[T any](v *T) *T {
	if v == nil {
		return nil
	}
	return new(*v)
}

// Format is a file format of images.
type Format string

// The formats.
const (
	FormatPNG  Format = "png"
	FormatJPEG Format = "jpeg"
	FormatWebP Format = "webp"
)

// Formats lists every format.
func Formats() []Format { return []Format{FormatPNG, FormatJPEG, FormatWebP} }

// MediaType returns the format's media type, such as image/png; "" for the zero Format.
func (f Format) MediaType() string {
	if f == "" {
		return ""
	}
	return "image/" + string(f)
}

// engine reports whether the engine writes the format, so that every model offers it.
func (f Format) engine() bool { return f == FormatPNG || f == FormatJPEG }

// Background is what is behind the subject of an image.
type Background string

// The backgrounds.
const (
	BackgroundAuto        Background = "auto"        // the model chooses
	BackgroundOpaque      Background = "opaque"      // no pixel is transparent
	BackgroundTransparent Background = "transparent" // the image has an alpha channel
)

// Backgrounds lists every background.
func Backgrounds() []Background {
	return []Background{BackgroundAuto, BackgroundOpaque, BackgroundTransparent}
}

// OfferedFormats returns the formats that a request can ask for: PNG and JPEG, which the
// engine writes, and those that the provider makes.
func (c Capabilities) OfferedFormats() []Format {
	return slices.DeleteFunc(Formats(), func(f Format) bool { return !f.engine() && !slices.Contains(c.Formats, f) })
}

// OfferedBackgrounds returns the backgrounds that a request can ask for. Opaque is always one
// of them, since the engine can make an image opaque.
func (c Capabilities) OfferedBackgrounds() []Background {
	if c.Transparent {
		return Backgrounds()
	}
	return []Background{BackgroundAuto, BackgroundOpaque}
}

// Batch returns r for n of its images, which follow the first before ones: the seed, if any, is
// increased by before.
func (r ProviderRequest) Batch(before, n int) ProviderRequest {
	r.N, r.Options = n, r.Options.Clone()
	if r.Options.Seed != nil {
		*r.Options.Seed += int64(before)
	}
	return r
}

// IsSet reports whether any option is set.
func (o Options) IsSet() bool {
	return o.Format != "" || o.Compression != nil || o.Background != "" || o.Seed != nil
}

// refusesOptions returns what to change if r asks for an option that this model, or no model,
// offers; nil if it does not.
func (c Capabilities) refusesOptions(r ProviderRequest) error {
	return cmp.Or(c.refusesFormat(r), c.refusesBackground(r), c.refusesSeed(r), c.refusesMask(r))
}

func (c Capabilities) refusesFormat(r ProviderRequest) error {
	lossy := r.Options.Format == FormatJPEG || r.Options.Format == FormatWebP
	switch {
	case r.Options.Format != "" && !slices.Contains(c.OfferedFormats(), r.Options.Format):
		return invalidField("output_format", "output_format %.40q cannot be had of this model; it offers %v",
			r.Options.Format, c.OfferedFormats())
	case r.Options.Compression == nil:
		return nil
	case !lossy:
		return invalidField("output_compression",
			"output_compression needs output_format jpeg or webp; choose one of them, or leave it out")
	case *r.Options.Compression < 0 || *r.Options.Compression > MaxCompression:
		return invalidField("output_compression", "output_compression must be from 0 to %d; got %d", MaxCompression,
			*r.Options.Compression)
	case !r.Options.Format.engine() && !c.Compression:
		return invalidField("output_compression",
			"output_compression is not available from this model with output_format %s; leave it out, or choose jpeg",
			r.Options.Format)
	}
	return nil
}

func (c Capabilities) refusesBackground(r ProviderRequest) error {
	switch {
	case r.Options.Background != "" && !slices.Contains(c.OfferedBackgrounds(), r.Options.Background):
		return invalidField("background", "background %.40q cannot be had of this model; it offers %v",
			r.Options.Background, c.OfferedBackgrounds())
	case r.Options.Background == BackgroundTransparent && r.Options.Format == FormatJPEG:
		return invalidField("background", "background transparent is not possible with output_format jpeg; choose png")
	}
	return nil
}

func (c Capabilities) refusesSeed(r ProviderRequest) error {
	switch {
	case r.Options.Seed == nil:
		return nil
	case c.MaxSeed == 0:
		return invalidField("seed", "seed is not taken by this model; leave it out")
	case *r.Options.Seed < 0 || *r.Options.Seed > c.lastSeed(r):
		return invalidField("seed", "seed must be from 0 to %d; got %d", c.lastSeed(r), *r.Options.Seed)
	}
	return nil
}

// lastSeed is the highest seed with which every image of r has a seed up to MaxSeed.
func (c Capabilities) lastSeed(r ProviderRequest) int64 { return c.MaxSeed - int64(max(r.N, 1)) + 1 }

func (c Capabilities) refusesMask(r ProviderRequest) error {
	switch {
	case r.Mask == nil:
		return nil
	case !c.Mask:
		return invalidField("mask", "mask is not taken by this model; leave it out")
	case len(r.References) == 0:
		return invalidField("mask", "mask needs the reference image that it belongs to; send one")
	}
	return nil
}
