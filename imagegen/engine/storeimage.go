package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/picture"
	"github.com/imagegend/imagegend/imagegen/engine/internal/stream"
)

// maxImageBytes bounds the bytes that are read of one image of a provider.
const maxImageBytes = 256 << 20

// badImageError says that an image counts as not delivered, through its own fault. The
// provider may still yield others.
type badImageError struct{ err error }

func (e *badImageError) Error() string { return "imagegen: an image was not usable: " + e.err.Error() }
func (e *badImageError) Unwrap() error { return e.err }

// storeImage checks one image of the provider and stores it. An image that can be
// delivered as it comes is read once: its structure is checked while it is hashed and
// written. Any other image is received first and then decoded. After a *badImageError the
// attempt goes on with the next image; any other error ends it.
func (a *attempt) storeImage(ctx context.Context, from imagegen.ProviderImage) (err error) {
	ctx, storing := a.engine.begin(ctx, imagegen.EventStored, a.record)
	defer func() { storing.end(1, err) }()
	if from.Body == nil {
		return &badImageError{errors.New("it has no body")}
	}
	header, image, err := a.header(&stream.Body{Ctx: ctx, R: from.Body})
	if err != nil {
		return err
	}
	t := a.target()
	if t.Matches(header) && a.model.verification() == imagegen.VerifyStructure {
		return a.put(ctx, verifyOnWrite(header, image))
	}
	raw, err := a.engine.receive(ctx, image)
	if err != nil {
		return err
	}
	defer raw.discard()
	decoded, err := a.engine.decode(ctx, raw, header, t)
	if err != nil {
		return err
	}
	return a.put(ctx, decoded)
}

// header reads the header of an image and compares it with what was asked for. It returns
// a reader of the whole image from its beginning.
func (a *attempt) header(r io.Reader) (picture.Header, io.Reader, error) {
	header, image, err := picture.PeekHeader(r)
	if err != nil {
		return picture.Header{}, nil, &badImageError{err}
	}
	if err := a.lacks(header); err != nil {
		return picture.Header{}, nil, &badImageError{err}
	}
	return header, image, nil
}

// deliverable is an image whose header matches what was asked for.
type deliverable struct {
	mediaType  string
	size       imagegen.Size
	open       func(context.Context) (io.ReadCloser, error) // once
	unverified bool                                         // by anybody yet: what is wrong with it shows while it is stored
}

// verifyOnWrite delivers an image whose structure is checked while it is stored: if it is
// broken, storing it fails.
func verifyOnWrite(h picture.Header, r io.Reader) deliverable {
	open := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(h.Whole(r)), nil }
	return deliverable{h.MediaType, h.Size, open, true}
}

// put writes an image to the ImageStore and counts it.
func (a *attempt) put(ctx context.Context, i deliverable) error {
	e := a.engine
	stored := imagegen.StoredImage{ID: imagegen.NewImageID(a.record.ID), Attempt: a.record.Attempt, MediaType: i.mediaType,
		Width: i.size.Width, Height: i.size.Height, CreatedAt: e.now()}
	r, err := i.open(ctx)
	if err != nil {
		return storageError(err)
	}
	defer r.Close()
	in := &stream.Meter{R: r, Most: maxImageBytes, Hash: sha256.New()}
	if err := storeError(in, e.images.PutImage(ctx, a.record.ImageKey(stored), in), i.unverified); err != nil {
		a.orphaned = true // an ImageStore may have kept something although it failed
		return err
	}
	stored.Size, stored.SHA256 = in.N, in.Sum()
	a.add(stored)
	return nil
}

// storeError is the result of storing an image, whatever an ImageStore made of a reader
// that failed. If the image had not been verified before and could not be read, that is
// the image's fault and not the store's.
func storeError(m *stream.Meter, err error, unread bool) error {
	switch {
	case m.Over:
		return &badImageError{stream.ErrTooLarge}
	case m.Err != nil && unread:
		return &badImageError{m.Err}
	case m.Err != nil || err != nil:
		return storageError(cmp.Or(m.Err, err))
	case !m.Ended:
		return storageError(errors.New("the ImageStore did not read it to its end"))
	}
	return nil
}

// storageError is an error of this service's own storage: nothing was delivered, and
// another attempt may work.
func storageError(err error) error {
	return &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Message: "an image could not be stored", Err: err}
}

// usualQuality is the quality of a JPEG that the engine writes if the request names none.
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

// errNoWebP is the error for an image that would have to be written as WebP.
var errNoWebP = errors.New("it is not as asked for, and the engine cannot write WebP")

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
