package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/stream"
	"github.com/imagegend/imagegend/imagegen/engine/internal/waiting"
	"github.com/imagegend/imagegend/imagegen/internal/picture"
)

// badImageError says that an image counts as not delivered, through its own fault. The
// provider may still yield others.
type badImageError struct{ err error }

func (e *badImageError) Error() string { return "imagegen: an image was not usable: " + e.err.Error() }
func (e *badImageError) Unwrap() error { return e.err }

// receiveImage receives one image of the provider, checks it, and converts it if it is not as asked for.
// The structure of an image that can be delivered as it comes is checked while it is received; any
// other image is received first and then decoded. After a *badImageError the attempt goes on with
// the next image; any other error ends it.
func (a *attempt) receiveImage(ctx context.Context, from imagegen.ProviderImage) (d deliverable, err error) {
	if from.Body == nil {
		return d, &badImageError{errors.New("it has no body")}
	}
	header, image, err := a.header(&stream.Body{Ctx: ctx, R: from.Body})
	if err != nil {
		return d, err
	}
	t, e := a.target(), a.engine
	if t.Matches(header) && a.model.verification() == imagegen.VerifyStructure && !t.Strip && !header.Late {
		whole := header.Whole(image)
		raw, err := a.receive(ctx, whole, e.unstored)
		return deliverable{header.MediaType, header.Size, asItCame(whole.Notes()), raw}, err
	}
	raw, err := a.receive(ctx, image, e.undecoded)
	if err != nil {
		return d, err
	}
	defer raw.discard()
	for {
		d, err := a.fit(ctx, raw, t)
		if _, bad := errors.AsType[*badImageError](err); bad {
			a.taken.Add(-1)
		}
		if _, failed := errors.AsType[*spoolError](err); !failed || ctx.Err() != nil ||
			errors.Is(err, imagegen.ErrNotFound) {
			return d, err
		}
		e.cfg.Log.WarnContext(ctx, "an image that was made is read again", "generation", a.record.ID, "error", err)
		waiting.Pause(ctx, probeEvery)
	}
}

// receive is [Engine.receive] of an image of the provider. From then on it counts as made.
func (a *attempt) receive(ctx context.Context, image io.Reader, m memory) (*received, error) {
	r, err := a.engine.receive(ctx, image, m)
	if err == nil {
		a.taken.Add(1)
	}
	return r, err
}

// header reads the header of an image and compares it with what was asked for. It returns
// a reader of the whole image from its beginning.
func (a *attempt) header(r io.Reader) (picture.Header, io.Reader, error) {
	header, image, err := picture.PeekHeader(r)
	if err != nil {
		return picture.Header{}, nil, &badImageError{err}
	}
	if header.Late { // fit compares it
		return header, image, nil
	}
	if err := a.lacks(header); err != nil {
		return picture.Header{}, nil, &badImageError{err}
	}
	return header, image, nil
}

// deliverable is an image as it is delivered. It is to be discarded.
type deliverable struct {
	mediaType  string
	size       imagegen.Size
	provenance imagegen.Provenance
	*received
}

// putImage calls the ImageStore, and turns a panic into an error.
func (e *Engine) putImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("imagegen: storing an image: panic: %v", v)
		}
	}()
	return e.images.PutImage(ctx, k, r)
}

// errNotRead is the error of an ImageStore that did not store all of an image.
var errNotRead = errors.New("imagegen: the ImageStore did not read an image to its end")

// put stores an image once.
func (e *Engine) put(ctx context.Context, k imagegen.ImageKey, d deliverable) error {
	done := make(chan struct{})
	defer close(done)
	go e.breaker.watch(e, done)
	from := d.newReader(ctx)
	defer from.Close()
	in := &stream.Meter{R: from, Most: maxImageBytes}
	if err := e.putImage(ctx, k, in); err != nil || in.Err != nil {
		return cmp.Or(in.Err, err)
	}
	if in.N != d.received.size {
		return errNotRead
	}
	e.breaker.worked(e)
	return nil
}

// store stores an image, however often that takes: an image that was made is not thrown away. It
// gives up when ctx ends: the attempt has reached its time limit, lost its lease, or the engine
// stops.
func (a *attempt) store(ctx context.Context, d deliverable) error {
	e := a.engine
	i := imagegen.StoredImage{ID: imagegen.NewImageID(a.record.ID), Attempt: a.record.Attempt, MediaType: d.mediaType,
		Width: d.size.Width, Height: d.size.Height, Size: d.received.size, SHA256: d.sha256, CreatedAt: e.now(),
		Provenance: d.provenance}
	for try, began := 0, time.Now(); ; try++ {
		err := e.put(ctx, a.record.ImageKey(i), d)
		if err == nil {
			a.addImage(i)
			return nil
		}
		a.orphaned.Store(true) // an ImageStore may have kept something although it failed
		d.makeRoom(ctx)
		switch {
		case ctx.Err() != nil:
		case try == 0:
			e.breaker.trip(e, err, i.Size)
		default: // a probe was stored, and this image was not: either may be the rule
			e.breaker.suspect(e, began)
			waiting.Pause(ctx, min(time.Duration(try), 2)*probeEvery)
		}
		if !e.breaker.wait(ctx) {
			return &imagegen.ProviderError{Class: imagegen.ClassStorage, Message: "an image could not be stored",
				Err: err}
		}
	}
}

// usualQuality is the quality of a JPEG that the engine writes if the request names none.
const usualQuality = 95

// target is what was asked for.
func (a *attempt) target() picture.Target {
	o := a.record.Options
	t := picture.Target{Size: a.record.Size, Format: o.Format, Quality: usualQuality,
		Opaque: o.Background == imagegen.BackgroundOpaque, Strip: a.model.metadata() == imagegen.MetadataStrip}
	if o.Compression != nil {
		t.Quality, t.Rewrite = max(1, *o.Compression), !a.model.can.Compression
	}
	return t
}

// errNoWebP is the error for an image that would have to be written as WebP.
var errNoWebP = errors.New("it is not as asked for, and the engine cannot write WebP")

// lacks returns why an image is not what was asked for and cannot be converted to it; nil
// if it is or can be.
func (a *attempt) lacks(h picture.Header) error {
	if err := providerRequest(a.record).Fits(h.Size); err != nil {
		return err
	}
	t := a.target()
	least, most := extremes(a.model.info.Ratios)
	switch aspect := h.Size.Aspect(); {
	case t.Size.Auto() && most > 0 && (aspect > most*looseSlack || aspect < least/looseSlack):
		return fmt.Errorf("it is %v, which is narrower than any ratio of the model", h.Size)
	case a.record.Options.Background == imagegen.BackgroundTransparent && !h.Alpha:
		return errors.New("it has no alpha channel, but a transparent background was asked for")
	case t.Format == imagegen.FormatWebP && !t.MatchesExceptPixels(h):
		return errNoWebP
	}
	return nil
}
