package uploads

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/stream"
	"github.com/imagegend/imagegend/imagegen/internal/picture"
)

// upload is a checked reference image in the spool. Take takes it over, once. If its user
// cannot pay, it was not stored: file has no ID then, but everything else.
type upload struct {
	in    *Uploads
	file  imagegen.ReferenceFile
	alpha bool        // its pixels may be transparent
	taken atomic.Bool // set by Take or by Discard, whichever comes first
}

var _ imagegen.Discarder = (*upload)(nil)

// Open implements [imagegen.Reference].
func (u *upload) Open(ctx context.Context) (io.ReadCloser, error) {
	return u.in.Spool.Open(ctx, u.file.ID)
}

// Discard implements [imagegen.Discarder].
func (u *upload) Discard() {
	if u.taken.CompareAndSwap(false, true) {
		u.in.RemoveFiles([]imagegen.ReferenceFile{u.file})
	}
}

// Stage copies one reference image of a user to the spool and checks it on the way. Its
// errors are those of Session.StageReference.
func (u *Uploads) Stage(ctx context.Context, user imagegen.UserID, r io.Reader,
	name string) (imagegen.Reference, error) {
	f, err := u.stage(ctx, user, r, name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// stage is Stage with the concrete type.
func (u *Uploads) stage(ctx context.Context, user imagegen.UserID, r io.Reader, name string) (*upload, error) {
	if !u.arriving.Take(user, 1) {
		return nil, tooManyUploads("too many reference images are being sent at once; send fewer at a time")
	}
	defer u.arriving.Give(user, 1)
	in := newMeter(ctx, r)
	if u.CannotPay(ctx, user) {
		return u.examine(ctx, in, name)
	}
	return u.keep(ctx, user, in, name)
}

func newMeter(ctx context.Context, r io.Reader) *stream.Meter {
	return &stream.Meter{R: &stream.Body{Ctx: ctx, R: r}, Most: imagegen.MaxReferenceBytes, Hash: sha256.New()}
}

// Copy stores a file that the engine made of one that it has, as a reference of the same user. Its
// errors are those of Stage.
func (u *Uploads) Copy(ctx context.Context, user imagegen.UserID, r io.Reader,
	name string) (imagegen.ReferenceFile, error) {
	f, err := u.keep(ctx, user, newMeter(ctx, r), name)
	if err != nil {
		return imagegen.ReferenceFile{}, err
	}
	return f.file, nil
}

// keep stores what in yields, and then examines the image in the spool. If storing fails, or
// r panics, nothing is counted for the user; an image that turns out to be unusable is
// removed again.
func (u *Uploads) keep(ctx context.Context, user imagegen.UserID, in *stream.Meter, name string) (*upload, error) {
	f := &upload{in: u}
	f.file.ID = u.NewID()
	coming := &arrival{Reader: in.R, uploads: u, user: user}
	in.R = coming
	kept := false
	defer func() { // also when r panics
		if !kept {
			u.bytes.Give(user, coming.taken)
		}
	}()
	if err := u.Spool.Stage(ctx, f.file.ID, in); err != nil {
		if in.MayBeKept(err) {
			u.Remove(f.file.ID)
		}
		return nil, stageError(ctx, in, err, name)
	}
	kept = true
	u.countKept(user, f.file.ID, coming.taken)
	if err := f.checkImage(ctx, in, name); err != nil {
		f.Discard()
		return nil, err
	}
	return f, nil
}

// examine is keep without storing: the upload has a hash but no identifier.
func (u *Uploads) examine(ctx context.Context, in *stream.Meter, name string) (*upload, error) {
	f := &upload{in: u}
	header, unread := picture.Examine(in)
	if _, err := io.Copy(io.Discard, in); err != nil {
		return nil, stageError(ctx, in, err, name)
	}
	if err := f.describe(in, header, unread, name); err != nil {
		return nil, err
	}
	return f, nil
}

// stageError is the error for an image that did not arrive completely. An error of the
// reader is returned as it is, since only the caller knows what it means, unless it is merely
// the end of ctx.
func stageError(ctx context.Context, in *stream.Meter, err error, name string) error {
	switch {
	case in.Over:
		return imagegen.Invalid("%s is larger than %d bytes (50 MiB)", name, imagegen.MaxReferenceBytes)
	case in.Err != nil && !errors.Is(in.Err, context.Cause(ctx)):
		return in.Err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", imagegen.ErrNotApplied, ctx.Err())
	}
	return NotKept(err)
}

// NotKept is what the caller gets when the spool fails: nothing was charged, and the same call may succeed later. An
// error that says more stays as it is.
func NotKept(err error) error {
	if e := imagegen.ToUserError(err); !errors.Is(e, imagegen.ErrInternal) {
		return e
	}
	return imagegen.Overloaded(5*time.Second, err)
}

// checkImage examines an image that is in the spool.
func (u *upload) checkImage(ctx context.Context, in *stream.Meter, name string) error {
	f, err := u.Open(ctx)
	if err != nil {
		return NotKept(err)
	}
	defer f.Close()
	header, unread := picture.Examine(f)
	return u.describe(in, header, unread, name)
}

// describe records what is known about an image that was read to its end, or returns why
// it cannot be used.
func (u *upload) describe(in *stream.Meter, h picture.Header, unread error, name string) error {
	u.file.Size, u.file.SHA256 = in.N, in.Sum()
	switch {
	case in.N == 0:
		return imagegen.Invalid("%s is empty; send a PNG, JPEG or WebP image", name)
	case errors.Is(unread, picture.ErrBroken):
		return imagegen.Invalid("%s cannot be used: %v", name, unread)
	case unread != nil:
		return imagegen.Invalid("%s is not a PNG, JPEG or WebP image that can be read: %v", name, unread)
	case h.Pixels() > imagegen.MaxReferencePixels:
		return imagegen.Invalid("%s has %d x %d pixels; the limit is %d million", name, h.Size.Width, h.Size.Height,
			imagegen.MaxReferencePixels/1_000_000)
	}
	u.file.Orientation = int(h.Orientation)
	u.file.MediaType, u.file.Width, u.file.Height, u.alpha = h.MediaType, h.Size.Width, h.Size.Height, h.Alpha
	return nil
}

// Take stages what is not staged yet and returns all files, the mask last. They belong to
// the caller then, who removes them with RemoveFiles. On an error all of them are removed,
// including those that Take did not come to. An upload can be taken once.
func (u *Uploads) Take(ctx context.Context, user imagegen.UserID, references []imagegen.Reference,
	mask imagegen.Reference) (files []imagegen.ReferenceFile, err error) {
	taken := false
	defer func() { // also when a reference panics
		if !taken {
			u.RemoveFiles(files)
			imagegen.Discard(references...)
			imagegen.Discard(mask)
		}
	}()
	for i, r := range references {
		f, err := u.takeOne(ctx, user, r, fmt.Sprintf("reference image %d", i+1))
		if err != nil {
			return files, err
		}
		files = append(files, f.file)
	}
	if mask == nil {
		taken = true
		return files, nil
	}
	f, err := u.takeOne(ctx, user, mask, "mask")
	if err != nil {
		return files, err
	}
	err = checkMask(f, files)
	f.file.Mask = true
	taken = err == nil
	return append(files, f.file), err
}

// OfImage is a reference that is a stored image of this service. Only the engine makes such references.
type OfImage interface{ ImageID() imagegen.ImageID }

// takeOne takes over one file, copying it first if it is not in this spool.
func (u *Uploads) takeOne(ctx context.Context, user imagegen.UserID, r imagegen.Reference,
	name string) (f *upload, err error) {
	if r == nil {
		return nil, imagegen.Invalid("%s is missing: it is nil", name)
	}
	f, ok := r.(*upload)
	if !ok || f.in != u { // that of another engine is discarded there
		if ok {
			defer f.Discard()
		}
		if f, err = u.copyIn(ctx, user, r, name); err != nil {
			return nil, err
		}
	}
	if own, ok := r.(OfImage); ok {
		f.file.Image = own.ImageID()
	}
	if !f.taken.CompareAndSwap(false, true) {
		return nil, imagegen.Invalid("%s was used before", name)
	}
	return f, nil
}

// checkMask returns why an upload cannot be the mask of the first reference; nil if it
// can.
func checkMask(u *upload, references []imagegen.ReferenceFile) error {
	f := u.file
	switch {
	case len(references) == 0:
		return imagegen.InvalidField("mask", "mask needs the reference image that it belongs to; send one")
	case f.MediaType != imagegen.FormatPNG.MediaType() || !u.alpha:
		return imagegen.InvalidField("mask",
			"mask must be a PNG with an alpha channel: what it leaves transparent is made anew")
	case f.Size > imagegen.MaxMaskBytes:
		return imagegen.InvalidField("mask", "mask is larger than %d bytes", imagegen.MaxMaskBytes)
	case f.Width*f.Height > imagegen.MaxMaskPixels:
		return imagegen.InvalidField("mask", "mask has %d x %d pixels; the limit is %d", f.Width, f.Height,
			imagegen.MaxMaskPixels)
	case f.Width != references[0].Width || f.Height != references[0].Height:
		return imagegen.InvalidField("mask",
			"mask is %d x %d and must be as large as the first reference image, which is %d x %d", f.Width, f.Height,
			references[0].Width, references[0].Height)
	}
	return nil
}

// copyIn stages a reference of any other kind. What its reader fails with is the caller's
// mistake.
func (u *Uploads) copyIn(ctx context.Context, user imagegen.UserID, r imagegen.Reference,
	name string) (*upload, error) {
	f, err := r.Open(ctx)
	if err != nil {
		return nil, imagegen.Invalid("%s cannot be opened: %v", name, err)
	}
	defer f.Close()
	staged, err := u.stage(ctx, user, f, name)
	if _, coded := errors.AsType[*imagegen.Error](err); err != nil && !coded && ctx.Err() == nil {
		err = imagegen.Invalid("%s cannot be read: %v", name, err)
	}
	return staged, err
}
