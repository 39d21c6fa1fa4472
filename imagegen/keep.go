package imagegen

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"io"
)

const (
	// maxImageBytes bounds what is read of one image of a provider.
	maxImageBytes = 256 << 20
	// Up to firstBytes of an image are held in memory while it is checked; up to inMemoryBytes, as
	// long as all images together stay within receiveBudget. Others go through the spool.
	firstBytes    = 64 << 10
	inMemoryBytes = 4 << 20
	receiveBudget = 64 << 20
)

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
	checked, err := a.engine.inspect(ctx, a.record, raw)
	if err != nil {
		return err
	}
	return a.store(ctx, checked)
}

// received is an image as the provider sent it, complete, in memory or in the spool.
type received struct {
	open    func(context.Context) (io.ReadCloser, error)
	discard func()
}

// receive reads a provider's image to its end, so that what follows runs at the speed of this
// machine whatever the upstream's is.
func (e *Engine) receive(ctx context.Context, body io.Reader) (received, error) {
	var held int64
	release := func() { e.receiving.Release(held) }
	kept := false
	defer func() { // also when body panics
		if !kept {
			release()
		}
	}()
	var head bytes.Buffer
	for most := int64(firstBytes); ; most *= 2 {
		if _, err := io.Copy(&head, io.LimitReader(body, most+1-int64(head.Len()))); err != nil {
			return received{}, &badImageError{err}
		}
		if int64(head.Len()) <= most {
			kept = true
			open := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(head.Bytes())), nil }
			return received{open, release}, nil
		}
		if most == inMemoryBytes || !e.receiving.TryAcquire(most) {
			return e.receiveSpooled(ctx, io.MultiReader(&head, body))
		}
		held += most
	}
}

// receiveSpooled puts a provider's image into the spool.
func (e *Engine) receiveSpooled(ctx context.Context, body io.Reader) (received, error) {
	id := ReferenceID(e.ids.next(referencePrefix, e.cfg.Now()))
	in := &meter{r: body, most: maxImageBytes}
	if err := e.spool.Stage(ctx, id, in); err != nil {
		if in.over || in.err != nil {
			return received{}, &badImageError{err}
		}
		return received{}, storing(err)
	}
	open := func(ctx context.Context) (io.ReadCloser, error) { return e.spool.Open(ctx, id) }
	return received{open, func() { e.removeSpooled(id) }}, nil
}

// checkedImage is an image that is what was asked for. write yields its bytes.
type checkedImage struct {
	mediaType     string
	width, height int
	write         func(ctx context.Context, put func(io.Reader) error) error
}

// store writes a checked image and counts it.
func (a *attempt) store(ctx context.Context, i checkedImage) error {
	e := a.engine
	stored := StoredImage{ID: newImageID(a.record.ID), Attempt: a.record.Attempt, MediaType: i.mediaType,
		Width: i.width, Height: i.height, CreatedAt: e.now()}
	err := i.write(ctx, func(r io.Reader) error {
		in := &meter{r: r, most: maxImageBytes, hash: sha256.New()}
		if err := e.images.PutImage(ctx, a.record.ImageKey(stored), in); err != nil {
			a.litter = true
			return storing(err)
		}
		stored.Size, stored.SHA256 = in.n, in.sum()
		return nil
	})
	if err == nil {
		a.add(stored)
	}
	return err
}

// storing is an error of this service's own storage: nothing was delivered, another attempt may work.
func storing(err error) error {
	return &ProviderError{Class: ClassUnavailable, Message: "an image could not be stored", Err: err}
}

// inspect decodes an image, checks it against what was asked for, and crops or scales it down to
// an explicit size.
func (e *Engine) inspect(ctx context.Context, r Record, raw received) (checkedImage, error) {
	header, err := readImage(ctx, raw, decodeHeader)
	if err != nil {
		return checkedImage{}, err
	}
	if err := r.fits(header.width, header.height); err != nil {
		return checkedImage{}, &badImageError{err}
	}
	if header.pixels() > MaxEdge*MaxEdge {
		return checkedImage{}, &badImageError{fmt.Errorf("it claims %d x %d pixels", header.width, header.height)}
	}
	if header.mediaType == formatPNG.mediaType && header.is(r.Size) {
		whole, err := readImage(ctx, raw, wholePNG)
		if whole || err != nil {
			return asReceived(header, raw), err
		}
	}
	weight := min(header.memory(r.Size), decodeBudget)
	if err := e.decoding.Acquire(ctx, weight); err != nil {
		return checkedImage{}, context.Cause(ctx)
	}
	release := func() { e.decoding.Release(weight) }
	picture, err := readImage(ctx, raw, header.decode)
	if err != nil {
		release()
		return checkedImage{}, err
	}
	if header.is(r.Size) {
		release()
		return asReceived(header, raw), nil
	}
	return resized(header, r.Size, picture, release), nil
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
		err := put(r)
		r.Close() // frees the encoder if put gave up
		<-done
		return err
	}}
}
