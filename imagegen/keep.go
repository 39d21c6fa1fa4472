package imagegen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
)

// maxImageBytes bounds what is read of one image of a provider.
const maxImageBytes = 256 << 20

// badImageError says that an image counts as not delivered; the provider may still yield others.
type badImageError struct{ err error }

func (e *badImageError) Error() string { return "imagegen: an image was not usable: " + e.err.Error() }
func (e *badImageError) Unwrap() error { return e.err }

// keep checks one image of the provider and stores it.
func (a *attempt) keep(ctx context.Context, from ProviderImage) error {
	if from.Body == nil {
		return &badImageError{errors.New("it has no body")}
	}
	raw, err := a.engine.receive(ctx, &body{ctx: ctx, r: from.Body})
	if err != nil {
		return err
	}
	defer raw.discard()
	header, err := a.header(ctx, raw)
	if err != nil {
		return err
	}
	if header.mediaType == formatPNG.mediaType && header.is(a.record.Size) {
		if err := a.store(ctx, checkedMeanwhile(header, raw)); !errors.Is(err, errNotPlain) {
			return err
		}
	}
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
	stored := StoredImage{ID: newImageID(a.record.ID), Attempt: a.record.Attempt, MediaType: i.mediaType,
		Width: i.width, Height: i.height, CreatedAt: e.now()}
	begun := false
	err := i.write(ctx, func(r io.Reader) error {
		begun = true
		in := &meter{r: r, most: maxImageBytes, hash: newDigest()}
		defer in.hash.sum()
		if err := e.images.PutImage(ctx, a.record.ImageKey(stored), in); err != nil {
			return storing(cmp.Or(in.err, err)) // also where an ImageStore has an error of its own for it
		}
		stored.Size, stored.SHA256 = in.n, in.hash.sum()
		return nil
	})
	if err != nil {
		a.litter = a.litter || begun // whatever an ImageStore makes of a reader that fails
		return err
	}
	a.add(stored)
	return nil
}

// storing is an error of this service's own storage: nothing was delivered, another attempt may work.
func storing(err error) error {
	return &ProviderError{Class: ClassUnavailable, Message: "an image could not be stored", Err: err}
}

// header reads what an image claims to be, and holds it against what was asked for.
func (a *attempt) header(ctx context.Context, raw received) (shape, error) {
	header, err := readImage(ctx, raw, decodeHeader)
	if err != nil {
		return shape{}, err
	}
	if err := a.record.fits(header.width, header.height); err != nil {
		return shape{}, &badImageError{err}
	}
	return header, nil
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
	picture, err := readImage(ctx, raw, header.decode)
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

func asReceived(s shape, raw received) checkedImage {
	return checkedImage{s.mediaType, s.width, s.height, func(ctx context.Context, put func(io.Reader) error) error {
		f, err := raw.open(ctx)
		if err != nil {
			return storing(err)
		}
		defer f.Close()
		return put(f)
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
