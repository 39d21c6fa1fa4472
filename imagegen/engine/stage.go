package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/imagegend/imagegend/imagegen"
)

// Upload is a reference image in the spool, checked. Generate takes it over, whatever it answers.
type Upload struct {
	engine *Engine
	file   imagegen.ReferenceFile
	taken  atomic.Bool
}

// Open implements [imagegen.Reference].
func (u *Upload) Open(ctx context.Context) (io.ReadCloser, error) {
	return u.engine.spool.Open(ctx, u.file.ID)
}

// Discard removes the bytes, unless a Generate has taken them over.
func (u *Upload) Discard() {
	if u.taken.CompareAndSwap(false, true) {
		u.engine.removeReferences([]imagegen.ReferenceFile{u.file})
	}
}

// Stage copies one reference image of the user to the spool and checks it on the way; a few hundred KiB of
// it are held in memory at a time. name says in messages which one it is. ErrInvalidRequest if it is empty,
// larger than MaxReferenceBytes, has more than MaxReferencePixels or is no PNG, JPEG or WebP whose
// header decodes; ErrOverloaded if there is no space, sixteen of the user's come already, or those that are
// kept for the user would exceed Config.MaxSpooled. When r fails, its error is returned.
//
// Of a user who cannot pay for the cheapest image it is checked and hashed, but not kept: Generate
// then knows a repeated request by its idempotency key, and answers ErrInsufficientCredits to any other.
func (s *Session) Stage(ctx context.Context, r io.Reader, name string) (*Upload, error) {
	e := s.engine
	end, err := e.uploads.begin(s.user)
	if err != nil {
		return nil, err
	}
	defer end()
	in := &meter{r: &body{ctx: ctx, r: r}, most: imagegen.MaxReferenceBytes, hash: sha256.New()}
	if e.tooPoor(ctx, s.user) {
		return e.examine(ctx, in, name)
	}
	return s.keep(ctx, in, name)
}

// keep stages what in yields.
func (s *Session) keep(ctx context.Context, in *meter, name string) (*Upload, error) {
	e := s.engine
	u := &Upload{engine: e}
	u.file.ID = e.ids.Reference(e.cfg.Now())
	coming := &arrival{Reader: in.r, engine: e, user: s.user}
	in.r = coming
	kept := false
	defer func() { // also when r panics
		if !kept {
			coming.giveUp()
		}
	}()
	if err := e.spool.Stage(ctx, u.file.ID, in); err != nil {
		return nil, in.failed(ctx, err, name)
	}
	kept = true
	e.uploads.keep(s.user, imagegen.ReferenceFile{ID: u.file.ID, Size: coming.taken})
	if err := e.checkReference(ctx, u, in, name); err != nil {
		u.Discard()
		return nil, err
	}
	return u, nil
}

// examine is keep without a copy. The Upload has no identifier.
func (e *Engine) examine(ctx context.Context, in *meter, name string) (*Upload, error) {
	u := &Upload{engine: e}
	shape, unread := decodeHeader(in)
	if _, err := io.Copy(io.Discard, in); err != nil {
		return nil, in.failed(ctx, err, name)
	}
	if err := u.describe(in, shape, unread, name); err != nil {
		return nil, err
	}
	return u, nil
}

// failed is what to say of an image that did not come to its end.
func (m *meter) failed(ctx context.Context, err error, name string) error {
	switch {
	case m.over:
		return imagegen.Invalid("%s is larger than %d bytes (50 MiB)", name, imagegen.MaxReferenceBytes)
	case m.err != nil && !errors.Is(m.err, context.Cause(ctx)):
		return m.err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", imagegen.ErrNotApplied, ctx.Err())
	}
	return imagegen.ToUserError(err)
}

func (e *Engine) checkReference(ctx context.Context, u *Upload, in *meter, name string) error {
	f, err := u.Open(ctx)
	if err != nil {
		return imagegen.ToUserError(err)
	}
	defer f.Close()
	shape, unread := decodeHeader(f)
	return u.describe(in, shape, unread, name)
}

// describe notes what is known of an image that was read to its end.
func (u *Upload) describe(in *meter, s shape, unread error, name string) error {
	u.file.Size, u.file.SHA256 = in.n, in.sum()
	switch {
	case in.n == 0:
		return imagegen.Invalid("%s is empty; send a PNG, JPEG or WebP image", name)
	case unread != nil:
		return imagegen.Invalid("%s is no PNG, JPEG or WebP image that can be read: %v", name, unread)
	case s.pixels() > imagegen.MaxReferencePixels:
		return imagegen.Invalid("%s has %d x %d pixels; the limit is %d million", name, s.width, s.height, imagegen.MaxReferencePixels/1_000_000)
	}
	u.file.MediaType, u.file.Width, u.file.Height = s.mediaType, s.width, s.height
	return nil
}

// take stages what is not staged yet and makes all of it the engine's. On an error everything is
// removed.
func (s *Session) take(ctx context.Context, references []imagegen.Reference) (files []imagegen.ReferenceFile, err error) {
	e := s.engine
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
			if u, err = s.copyIn(ctx, r, fmt.Sprintf("reference image %d", i+1)); err != nil {
				return files, err
			}
		}
		if !u.taken.CompareAndSwap(false, true) {
			return files, imagegen.Invalid("reference image %d was used before", i+1)
		}
		files = append(files, u.file)
	}
	return files, nil
}

func (s *Session) copyIn(ctx context.Context, r imagegen.Reference, name string) (*Upload, error) {
	f, err := r.Open(ctx)
	if err != nil {
		return nil, imagegen.Invalid("%s cannot be opened: %v", name, err)
	}
	defer f.Close()
	u, err := s.Stage(ctx, f, name)
	if _, coded := errors.AsType[*imagegen.Error](err); err != nil && !coded && ctx.Err() == nil {
		err = imagegen.Invalid("%s cannot be read: %v", name, err)
	}
	return u, err
}

// discard removes what was staged for a Generate that does not take it.
func discard(references []imagegen.Reference) {
	for _, r := range references {
		if u, ok := r.(*Upload); ok {
			u.Discard()
		}
	}
}
