package imagegen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// Upload is a reference image in the spool, checked. Generate takes it over, whatever it answers.
type Upload struct {
	engine *Engine
	file   ReferenceFile
	taken  atomic.Bool
}

// Open implements [Reference].
func (u *Upload) Open(ctx context.Context) (io.ReadCloser, error) {
	return u.engine.spool.Open(ctx, u.file.ID)
}

// Discard removes the bytes, unless a Generate has taken them over.
func (u *Upload) Discard() {
	if u.taken.CompareAndSwap(false, true) {
		u.engine.removeReferences([]ReferenceFile{u.file})
	}
}

// Stage copies one reference image to the spool and checks it on the way; a few hundred KiB of it are
// held in memory at a time. name says in messages which one it is. ErrInvalidRequest if it is empty,
// larger than MaxReferenceBytes, has more than MaxReferencePixels or is no PNG, JPEG or WebP whose
// header decodes; ErrOverloaded if there is no space. When r fails, its error is returned.
func (e *Engine) Stage(ctx context.Context, r io.Reader, name string) (*Upload, error) {
	u := &Upload{engine: e}
	u.file.ID = ReferenceID(e.ids.next(referencePrefix, e.cfg.Now()))
	in := &meter{r: &body{ctx: ctx, r: r}, most: MaxReferenceBytes, hash: newDigest()}
	defer in.hash.sum()
	if err := e.spool.Stage(ctx, u.file.ID, in); err != nil {
		switch {
		case in.over:
			return nil, invalid("%s is larger than %d bytes (50 MiB)", name, MaxReferenceBytes)
		case in.err != nil && !errors.Is(in.err, context.Cause(ctx)):
			return nil, in.err
		case ctx.Err() != nil:
			return nil, fmt.Errorf("%w: %w", ErrNotApplied, ctx.Err())
		}
		return nil, public(err)
	}
	if err := e.checkReference(ctx, u, in, name); err != nil {
		u.Discard()
		return nil, err
	}
	return u, nil
}

func (e *Engine) checkReference(ctx context.Context, u *Upload, in *meter, name string) error {
	if in.n == 0 {
		return invalid("%s is empty; send a PNG, JPEG or WebP image", name)
	}
	u.file.Size = in.n
	u.file.SHA256 = in.hash.sum()
	f, err := u.Open(ctx)
	if err != nil {
		return public(err)
	}
	defer f.Close()
	shape, err := decodeHeader(f)
	if err != nil {
		return invalid("%s is no PNG, JPEG or WebP image that can be read: %v", name, err)
	}
	if shape.pixels() > MaxReferencePixels {
		return invalid("%s has %d x %d pixels; the limit is %d million", name, shape.width, shape.height, MaxReferencePixels/1_000_000)
	}
	u.file.MediaType, u.file.Width, u.file.Height = shape.mediaType, shape.width, shape.height
	return nil
}

// take stages what is not staged yet and makes all of it the engine's. On an error everything is
// removed.
func (e *Engine) take(ctx context.Context, references []Reference) (files []ReferenceFile, err error) {
	defer func() {
		if err != nil {
			e.removeReferences(files)
			discard(references)
		}
	}()
	for i, r := range references {
		u, ok := r.(*Upload)
		if !ok || u.engine != e { // the Upload of another engine is discarded there
			if ok {
				defer u.Discard()
			}
			if u, err = e.copyIn(ctx, r, fmt.Sprintf("reference image %d", i+1)); err != nil {
				return files, err
			}
		}
		if !u.taken.CompareAndSwap(false, true) {
			return files, invalid("reference image %d was used before", i+1)
		}
		files = append(files, u.file)
	}
	return files, nil
}

func (e *Engine) copyIn(ctx context.Context, r Reference, name string) (*Upload, error) {
	f, err := r.Open(ctx)
	if err != nil {
		return nil, invalid("%s cannot be opened: %v", name, err)
	}
	defer f.Close()
	u, err := e.Stage(ctx, f, name)
	if _, coded := errors.AsType[*Error](err); err != nil && !coded && ctx.Err() == nil {
		err = invalid("%s cannot be read: %v", name, err)
	}
	return u, err
}

// discard removes what was staged for a Generate that does not take it.
func discard(references []Reference) {
	for _, r := range references {
		if u, ok := r.(*Upload); ok {
			u.Discard()
		}
	}
}
