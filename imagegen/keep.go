package imagegen

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"io"

	"github.com/imagegend/imagegend/imagegen/internal/picture"
)

// maxImageBytes bounds what is read of one image of a provider.
const maxImageBytes = 256 << 20

// badImageError says that an image counts as not delivered; the provider may still yield others.
type badImageError struct{ err error }

func (e *badImageError) Error() string { return "imagegen: an image was not usable: " + e.err.Error() }
func (e *badImageError) Unwrap() error { return e.err }

// keep checks one image of the provider and stores it. One that can be delivered as it comes is checked while
// it goes into the store, in one pass; any other is received first, and decoded.
func (a *attempt) keep(ctx context.Context, from ProviderImage) error {
	if from.Body == nil {
		return &badImageError{errors.New("it has no body")}
	}
	header, image, err := a.header(&body{ctx: ctx, r: from.Body})
	if err != nil {
		return err
	}
	if header.is(a.record.Size) && a.offer.verification() == VerifyStructure {
		return a.store(ctx, asItComes(header, image))
	}
	raw, err := a.engine.receive(ctx, image)
	if err != nil {
		return err
	}
	defer raw.discard()
	checked, err := a.inspect(ctx, raw, header)
	if err != nil {
		return err
	}
	return a.store(ctx, checked)
}

// checkedImage is an image that is what was asked for. write yields its bytes, to their end only if they
// are an image, and else returns an error.
type checkedImage struct {
	mediaType     string
	width, height int
	write         func(ctx context.Context, put func(io.Reader) error) error
}

// store writes an image and counts it.
func (a *attempt) store(ctx context.Context, i checkedImage) error {
	e := a.engine
	stored := StoredImage{ID: NewImageID(a.record.ID), Attempt: a.record.Attempt, MediaType: i.mediaType,
		Width: i.width, Height: i.height, CreatedAt: e.now()}
	begun := false
	err := i.write(ctx, func(r io.Reader) error {
		begun = true
		in := &meter{r: r, most: maxImageBytes, hash: sha256.New()}
		err := e.images.PutImage(ctx, a.record.ImageKey(stored), in)
		if err := in.verdict(err); err != nil {
			return err
		}
		stored.Size, stored.SHA256 = in.n, in.sum()
		return nil
	})
	if err != nil {
		a.litter = a.litter || begun // whatever an ImageStore makes of a reader that fails
		return err
	}
	a.add(stored)
	return nil
}

// verdict is what storing an image came to: an image that was not found whole is at fault, whatever an ImageStore
// makes of that.
func (m *meter) verdict(err error) error {
	bad, broken := errors.AsType[*badImageError](m.err)
	switch {
	case broken:
		return bad
	case m.over:
		return &badImageError{errTooLarge}
	case err != nil || m.err != nil:
		return storing(cmp.Or(m.err, err))
	}
	return nil
}

// storing is an error of this service's own storage: nothing was delivered, another attempt may work.
func storing(err error) error {
	return &ProviderError{Class: ClassUnavailable, Message: "an image could not be stored", Err: err}
}

// header reads what an image claims to be, holds it against what was asked for, and returns its bytes from the
// beginning.
func (a *attempt) header(r io.Reader) (shape, io.Reader, error) {
	header, image, err := peekHeader(r)
	if err != nil {
		return shape{}, nil, &badImageError{err}
	}
	if err := providerRequest(a.record).Fits(Size{header.width, header.height}); err != nil {
		return shape{}, nil, &badImageError{err}
	}
	if header.pixels() > MaxEdge*MaxEdge {
		return shape{}, nil, &badImageError{fmt.Errorf("it claims %d x %d pixels", header.width, header.height)}
	}
	return header, image, nil
}

// inspect decodes an image, and crops or scales it down to an explicit size.
func (a *attempt) inspect(ctx context.Context, raw received, header shape) (checkedImage, error) {
	e, size := a.engine, a.record.Size
	weight := min(header.memory(size), decodeBudget)
	if err := e.decoding.Acquire(ctx, weight); err != nil {
		return checkedImage{}, context.Cause(ctx)
	}
	held := true
	release := func() { e.decoding.Release(weight) }
	defer func() { // also when a Spool panics
		if held {
			release()
		}
	}()
	picture, err := readImage(ctx, raw, header.decodeWhole)
	if err != nil {
		return checkedImage{}, err
	}
	if header.is(size) {
		return asReceived(header, raw), nil
	}
	held = false
	return resized(header, size, picture, release), nil
}

// readImage opens what was received and reads something from it. What cannot be read is the
// image's fault; what cannot be opened, the spool's.
func readImage[T any](ctx context.Context, raw received, read func(io.Reader) (T, error)) (v T, err error) {
	f, err := raw.open(ctx)
	if err != nil {
		return v, storing(err)
	}
	defer f.Close()
	defer func() {
		if p := recover(); p != nil { // a decoder that panics on hostile bytes
			err = &badImageError{fmt.Errorf("decoding: %v", p)}
		}
	}()
	if v, err = read(f); err != nil {
		return v, &badImageError{err}
	}
	return v, nil
}

// asItComes is an image that is checked while it is written.
func asItComes(s shape, r io.Reader) checkedImage {
	return checkedImage{s.mediaType, s.width, s.height, func(_ context.Context, put func(io.Reader) error) error {
		bytes := &imageBytes{Reader: picture.Whole(r, s.structure)}
		err := put(bytes)
		if err == nil && !bytes.ended {
			return storing(errors.New("the ImageStore did not read it to its end"))
		}
		return err
	}}
}

// imageBytes are the bytes of an image whose fault it is if they cannot be read.
type imageBytes struct {
	io.Reader
	ended bool // and so the image is whole
}

func (f *imageBytes) Read(p []byte) (n int, err error) {
	defer func() {
		if v := recover(); v != nil { // of a provider's reader, which no ImageStore is to meet
			n, err = 0, &badImageError{fmt.Errorf("reading: panic: %v", v)}
		}
	}()
	n, err = f.Reader.Read(p)
	f.ended = err == io.EOF
	if err != nil && !f.ended {
		err = &badImageError{err}
	}
	return n, err
}

func asReceived(s shape, raw received) checkedImage {
	return checkedImage{s.mediaType, s.width, s.height, func(ctx context.Context, put func(io.Reader) error) error {
		f, err := raw.open(ctx)
		if err != nil {
			return storing(err)
		}
		defer f.Close()
		return put(picture.Whole(f, s.structure)) // which it was found to be: what is behind it is cut off
	}}
}

// resized holds the decoded picture, and its share of the decoding budget, until it is written.
func resized(s shape, to Size, picture image.Image, release func()) checkedImage {
	mediaType, encode := encoderFor(s)
	return checkedImage{mediaType, to.Width, to.Height, func(_ context.Context, put func(io.Reader) error) error {
		defer release()
		r, w := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.CloseWithError(encode(w, coverCrop(picture, to)))
		}()
		defer func() { // frees the encoder if put gave up, also by a panic
			r.Close()
			<-done
		}()
		return put(r)
	}}
}
