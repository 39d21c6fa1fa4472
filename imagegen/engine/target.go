package engine

import (
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/picture"
)

// usualQuality is the quality of a JPEG if the request names none.
const usualQuality = 95

// target is what was asked for.
func (a *attempt) target() picture.Target {
	o := a.record.Options
	t := picture.Target{Size: a.record.Size, Format: o.Format, Quality: usualQuality, Opaque: o.Background == imagegen.BackgroundOpaque}
	if o.Compression != nil {
		t.Quality, t.Rewrite = max(1, *o.Compression), !a.model.can.Compression
	}
	return t
}

// errNoWebP is said where a WebP would have to be written.
var errNoWebP = errors.New("it is not as asked for, and a WebP cannot be written")

// lacks returns why an image is not what was asked for and cannot be converted to it; nil
// if it is or can be.
func (a *attempt) lacks(h picture.Header) error {
	if err := providerRequest(a.record).Fits(h.Size); err != nil {
		return err
	}
	t := a.target()
	switch {
	case a.record.Options.Background == imagegen.BackgroundTransparent && !h.Alpha:
		return errors.New("it has no alpha channel, but a transparent background was asked for")
	case t.Format == imagegen.FormatWebP && !t.MatchesExceptPixels(h):
		return errNoWebP
	}
	return nil
}
