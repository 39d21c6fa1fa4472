package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/picture"
)

// maxTurning bounds the bytes that it takes to turn a reference image: enough for an ordinary JPEG of 67 megapixels.
// Callers choose what they send, unlike providers.
const maxTurning = 512 << 20

// turnUpright adds upright copies of the references that are stored turned, unless the provider turns them itself, and
// of such a mask, since adapters convert masks. The copies stay with the record, so that they are made once for all
// attempts. They are part neither of the fingerprint nor of the join key. To turn a large picture takes the whole
// decoding budget for a while, so a call that cannot be paid, or that holds a picture that cannot be turned, ends
// before.
func (c *call) turnUpright(ctx context.Context) error {
	e, references := c.engine, len(c.record.ReferenceImages())
	var all []turnedReference
	for i, f := range c.record.References {
		if !picture.Orientation(f.Orientation).Turned() || c.model.can.Orientation && !f.Mask {
			continue
		}
		name := fmt.Sprintf("reference image %d", i+1)
		if i >= references {
			name = "mask"
		}
		r, err := e.examineTurned(ctx, f, name)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	if len(all) > 0 && e.hasLess(ctx, c.record.Account(), c.record.Charge().Credits) {
		return c.tooFewCredits(ctx, imagegen.ErrInsufficientCredits)
	}
	for _, r := range all {
		upright, err := e.uprightCopy(ctx, c.session.Payer(), r)
		if err != nil {
			return err
		}
		upright.CopyOf = r.ID
		c.record.References = append(c.record.References, upright)
	}
	return nil
}

// turnedReference is a reference image in the spool that is stored turned.
type turnedReference struct {
	imagegen.ReferenceFile
	name   string // for messages
	raw    *received
	header picture.Header
}

// target is what becomes of it: the same in the same colours. A lossy WebP becomes a JPEG, since it would be many times
// as large as a PNG; a lossless one, one with transparency or a mask becomes a PNG.
func (r turnedReference) target() picture.Target {
	t := picture.Target{Quality: usualQuality, Strip: true, Unmarked: true}
	if r.header.LossyWebP && !r.header.Alpha && !r.Mask {
		t.Format = imagegen.FormatJPEG
	}
	return t
}

func (r turnedReference) tooLarge() error {
	return imagegen.Invalid("%s has %d x %d pixels, which are stored turned (EXIF orientation %d); "+
		"it is too large to be turned here: send it upright, or smaller", r.name, r.Width, r.Height, r.Orientation)
}

// examineTurned refuses a reference that cannot be turned. All of a call are examined before the first is turned, for
// that costs time that nobody pays for.
func (e *Engine) examineTurned(ctx context.Context, f imagegen.ReferenceFile, name string) (turnedReference, error) {
	r := turnedReference{ReferenceFile: f, name: name, raw: &received{engine: e, parts: []part{{spooled: f.ID}}}}
	var err error
	if r.header, err = r.raw.examine(ctx); err != nil {
		return r, r.unusable(err)
	}
	if r.target().Memory(r.header) > maxTurning {
		return r, r.tooLarge()
	}
	return r, nil
}

// unusable is the error for the caller of a reference that could not be turned.
func (r turnedReference) unusable(err error) error {
	if bad, ok := errors.AsType[*badImageError](err); ok {
		return imagegen.Invalid("%s cannot be used: %v", r.name, bad.err)
	}
	if failed, ok := errors.AsType[*spoolError](err); ok {
		return imagegen.Overloaded(5*time.Second, failed)
	}
	return imagegen.ToUserError(err)
}

// uprightCopy makes an upright copy of a reference, in the user's turn, which must come in time.
func (e *Engine) uprightCopy(ctx context.Context, user imagegen.UserID,
	r turnedReference) (imagegen.ReferenceFile, error) {
	within, cancel := context.WithTimeoutCause(ctx, e.cfg.Limits.SlotWait, imagegen.Overloaded(5*time.Second,
		errManyTurned))
	end, err := e.turning.take(within, user, 1)
	cancel()
	if err != nil {
		return imagegen.ReferenceFile{}, context.Cause(within)
	}
	defer end()
	copied, err := e.convert(ctx, r.raw, r.header, r.target())
	if err != nil {
		return imagegen.ReferenceFile{}, r.unusable(err)
	}
	defer copied.discard()
	if copied.received.size > imagegen.MaxReferenceBytes {
		return imagegen.ReferenceFile{}, r.tooLarge()
	}
	return e.uploads.Copy(ctx, user, copied.newReader(ctx), "the upright copy of "+r.name)
}

var errManyTurned = errors.New("too many reference images are being turned upright")
