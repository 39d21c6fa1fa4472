package engine

import (
	"errors"

	"github.com/imagegend/imagegend/imagegen"
)

// target is what an image must be to be delivered. What it is not, it is brought to.
type target struct {
	size    imagegen.Size
	format  imagegen.Format // "": any
	quality int             // of a JPEG that is written
	rewrite bool            // a JPEG too: the provider does not know the quality
	opaque  bool
}

// usualQuality is that of a JPEG of which nothing else is asked.
const usualQuality = 95

// target is what was asked for.
func (a *attempt) target() target {
	o := a.record.Options
	t := target{size: a.record.Size, format: o.Format, quality: usualQuality, opaque: o.Background == imagegen.BackgroundOpaque}
	if o.Compression != nil {
		t.quality, t.rewrite = max(1, *o.Compression), !a.offer.can.Compression
	}
	return t
}

// errNoWebP is said where a WebP would have to be written.
var errNoWebP = errors.New("it is not as asked for, and a WebP cannot be written")

// lacks returns why an image is not what was asked for, and cannot be brought to it; nil if it is or can.
func (a *attempt) lacks(s shape) error {
	if err := providerRequest(a.record).Fits(s.size()); err != nil {
		return err
	}
	t := a.target()
	switch {
	case a.record.Options.Background == imagegen.BackgroundTransparent && !s.alpha:
		return errors.New("it has no alpha channel, but a transparent background was asked for")
	case t.format == imagegen.FormatWebP && !(s.has(t.size) && t.isFormat(s)):
		return errNoWebP
	}
	return nil
}

// is reports whether an image can be delivered as it comes, as far as its header tells.
func (t target) is(s shape) bool {
	return s.has(t.size) && t.isFormat(s) && !(t.opaque && s.mayBeSeenThrough())
}

func (t target) isFormat(s shape) bool {
	if t.rewrite && s.mediaType == formatJPEG.mediaType {
		return false
	}
	return t.format == "" || t.format.MediaType() == s.mediaType
}

// written is the format in which an image is written again: JPEG stays JPEG; PNG, and WebP for want of an encoder,
// become PNG.
func (t target) written(s shape) imagegen.Format {
	switch {
	case t.format != "":
		return t.format
	case s.mediaType == formatJPEG.mediaType:
		return imagegen.FormatJPEG
	}
	return imagegen.FormatPNG
}

// mayBeSeenThrough is unlike alpha true of what a header cannot tell.
func (s shape) mayBeSeenThrough() bool { return s.alpha || s.mediaType == formatPNG.mediaType }

// memory is how many bytes it takes to decode an image, and to bring it to a target if it must be.
func (t target) memory(s shape) int64 {
	n := s.perPixel * s.pixels()
	switch {
	case t.is(s):
		return n
	case t.size.Auto():
		return n + rgba*s.pixels()
	}
	return n + rgba*int64(t.size.Area())
}
