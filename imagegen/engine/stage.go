package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/picture"
)

// upload is an [imagegen.Reference] in the spool, checked. Generate takes it over, whatever it answers.
type upload struct {
	engine *Engine
	file   imagegen.ReferenceFile
	alpha  bool // something of it may be transparent
	taken  atomic.Bool
}

// Open implements [imagegen.Reference].
func (u *upload) Open(ctx context.Context) (io.ReadCloser, error) {
	return u.engine.spool.Open(ctx, u.file.ID)
}

// Discard is called by [imagegen.Discard].
func (u *upload) Discard() {
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
func (s *Session) Stage(ctx context.Context, r io.Reader, name string) (imagegen.Reference, error) {
	u, err := s.stage(ctx, r, name)
	if err != nil {
		return nil, err
	}
	return u, nil
}

func (s *Session) stage(ctx context.Context, r io.Reader, name string) (*upload, error) {
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
func (s *Session) keep(ctx context.Context, in *meter, name string) (*upload, error) {
	e := s.engine
	u := &upload{engine: e}
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

// examine is keep without a copy. The upload has no identifier.
func (e *Engine) examine(ctx context.Context, in *meter, name string) (*upload, error) {
	u := &upload{engine: e}
	header, unread := picture.ReadHeader(in)
	if _, err := io.Copy(io.Discard, in); err != nil {
		return nil, in.failed(ctx, err, name)
	}
	if err := u.describe(in, header, unread, name); err != nil {
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

func (e *Engine) checkReference(ctx context.Context, u *upload, in *meter, name string) error {
	f, err := u.Open(ctx)
	if err != nil {
		return imagegen.ToUserError(err)
	}
	defer f.Close()
	header, unread := picture.ReadHeader(f)
	return u.describe(in, header, unread, name)
}

// describe notes what is known of an image that was read to its end.
func (u *upload) describe(in *meter, h picture.Header, unread error, name string) error {
	u.file.Size, u.file.SHA256 = in.n, in.sum()
	switch {
	case in.n == 0:
		return imagegen.Invalid("%s is empty; send a PNG, JPEG or WebP image", name)
	case unread != nil:
		return imagegen.Invalid("%s is no PNG, JPEG or WebP image that can be read: %v", name, unread)
	case h.Pixels() > imagegen.MaxReferencePixels:
		return imagegen.Invalid("%s has %d x %d pixels; the limit is %d million", name, h.Size.Width, h.Size.Height, imagegen.MaxReferencePixels/1_000_000)
	}
	u.file.MediaType, u.file.Width, u.file.Height, u.alpha = h.MediaType, h.Size.Width, h.Size.Height, h.Alpha
	return nil
}

// take stages what is not staged yet and makes all of it the engine's, the mask as the last. On an error everything is
// removed.
func (s *Session) take(ctx context.Context, references []imagegen.Reference, mask imagegen.Reference) (files []imagegen.ReferenceFile, err error) {
	defer func() {
		if err != nil {
			s.engine.removeReferences(files)
			imagegen.Discard(references...)
			imagegen.Discard(mask)
		}
	}()
	for i, r := range references {
		u, err := s.takeOne(ctx, r, fmt.Sprintf("reference image %d", i+1))
		if err != nil {
			return files, err
		}
		files = append(files, u.file)
	}
	if mask == nil {
		return files, nil
	}
	u, err := s.takeOne(ctx, mask, "mask")
	if err != nil {
		return files, err
	}
	err = checkMask(u, files)
	u.file.Mask = true
	return append(files, u.file), err
}

// takeOne makes one file the engine's.
func (s *Session) takeOne(ctx context.Context, r imagegen.Reference, name string) (u *upload, err error) {
	u, ok := r.(*upload)
	if !ok || u.engine != s.engine { // that of another engine is discarded there
		if ok {
			defer u.Discard()
		}
		if u, err = s.copyIn(ctx, r, name); err != nil {
			return nil, err
		}
	}
	if own, ok := r.(ownImage); ok {
		u.file.Image = own.id
	}
	if !u.taken.CompareAndSwap(false, true) {
		return nil, imagegen.Invalid("%s was used before", name)
	}
	return u, nil
}

// checkMask returns why an upload is no mask for the first of the references.
func checkMask(u *upload, references []imagegen.ReferenceFile) error {
	f := u.file
	switch {
	case len(references) == 0:
		return imagegen.InvalidField("mask", "mask needs the reference image that it belongs to; send one")
	case f.MediaType != imagegen.FormatPNG.MediaType() || !u.alpha:
		return imagegen.InvalidField("mask", "mask must be a PNG with an alpha channel: what it leaves transparent is made anew")
	case f.Size > imagegen.MaxMaskBytes:
		return imagegen.InvalidField("mask", "mask is larger than %d bytes", imagegen.MaxMaskBytes)
	case f.Width*f.Height > imagegen.MaxMaskPixels:
		return imagegen.InvalidField("mask", "mask has %d x %d pixels; the limit is %d", f.Width, f.Height, imagegen.MaxMaskPixels)
	case f.Width != references[0].Width || f.Height != references[0].Height:
		return imagegen.InvalidField("mask", "mask is %d x %d and must be as large as the first reference image, which is %d x %d",
			f.Width, f.Height, references[0].Width, references[0].Height)
	}
	return nil
}

func (s *Session) copyIn(ctx context.Context, r imagegen.Reference, name string) (*upload, error) {
	f, err := r.Open(ctx)
	if err != nil {
		return nil, imagegen.Invalid("%s cannot be opened: %v", name, err)
	}
	defer f.Close()
	u, err := s.stage(ctx, f, name)
	if _, coded := errors.AsType[*imagegen.Error](err); err != nil && !coded && ctx.Err() == nil {
		err = imagegen.Invalid("%s cannot be read: %v", name, err)
	}
	return u, err
}
