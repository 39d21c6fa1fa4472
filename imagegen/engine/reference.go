package engine

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/uploads"
)

// newUploads connects uploads to the spool and the ledger.
func (e *Engine) newUploads() *uploads.Uploads {
	return uploads.New(uploads.Config{Spool: e.spool, Remove: e.removeSpooled, Most: e.cfg.Limits.MaxSpooled,
		NewID:     func() imagegen.ReferenceID { return e.ids.Reference(e.cfg.Now()) },
		CannotPay: func(ctx context.Context, u imagegen.UserID) bool { return e.hasLess(ctx, u, e.cheapest()) }})
}

// StageReference copies one reference image of the user to the spool and checks it meanwhile; at most a
// few hundred KiB are in memory at a time. The result is for one Generate; if there is none, call
// [imagegen.Discard]. name identifies the image in messages. ErrInvalidRequest: the image is empty,
// larger than MaxReferenceBytes, has more than MaxReferencePixels, or is not a PNG, JPEG or WebP whose
// header can be decoded. ErrOverloaded: there is no space, 16 images of the user or 128 of all users
// are already arriving, or the user would exceed Config.Limits.MaxSpooled. If r fails, its error is
// returned.
//
// If the user cannot pay for the cheapest image, StageReference checks and hashes the reference image but
// does not store it. Generate then recognizes a repeated request by its idempotency key, and answers
// any other with ErrInsufficientCredits.
func (s *Session) StageReference(ctx context.Context, r io.Reader, name string) (imagegen.Reference, error) {
	return s.engine.uploads.Stage(ctx, s.Payer(), r, name)
}

const (
	// maxEndedUploads is how many generations are looked at in one round for whether their
	// reference images are still needed.
	maxEndedUploads = 500
	// unknownFor is how long a generation that the Store does not know may still appear there: its acceptance may wait
	// for a standby of the database, or for a transaction of the host's (Session.Prepare, Session.GenerateTx).
	unknownFor = preparedFor
)

// removeEndedUploads removes reference images whose generations were prepared and never accepted, or have ended without
// a word to this engine: another one on the store did the work, and removed what is stored. Here they would take space,
// and count for their user, until the process ends.
func (e *Engine) removeEndedUploads(ctx context.Context) {
	looked := 0
	for id, held := range e.uploads.Held(time.Now().Add(-maintenance)) {
		if looked++; looked > maxEndedUploads || ctx.Err() != nil {
			return
		}
		r, err := e.store.Generation(ctx, id)
		lost := errors.Is(err, imagegen.ErrNotFound) && time.Since(held.Since) > unknownFor
		if lost || err == nil && !r.Unsettled() {
			e.uploads.RemoveHeld(held)
		}
	}
}

// hasLess reports whether a user has fewer credits. If the ledger does not answer, it says no: the charge will tell.
func (e *Engine) hasLess(ctx context.Context, u imagegen.UserID, credits imagegen.Credits) bool {
	user, err := e.accounts.Account(ctx, u)
	if err != nil {
		return false
	}
	var b imagegen.Balance
	err = e.askOnce(ctx, func(ctx context.Context) (err error) {
		b, err = e.readBalance(ctx, user)
		return err
	})
	return err == nil && b.Credits < credits
}

// cheapest is the lowest price of an image; 0 if there are no models.
func (e *Engine) cheapest() (least imagegen.Credits) {
	c := e.catalogs.current.Load()
	for _, info := range c.listed {
		if m := c.entries[info.ID]; m.Price != nil {
			return 1 // nobody knows what it returns
		} else if cheapest := m.cheapest(); least == 0 || cheapest < least {
			least = cheapest
		}
	}
	return least
}

// cheapest is the lowest price of an image without references.
func (m catalogEntry) cheapest() (least imagegen.Credits) {
	for _, l := range m.prices {
		for _, tier := range m.info.Tiers {
			if credits, ok := l.Credits[tier]; ok && (least == 0 || credits < least) {
				least = credits
			}
		}
	}
	return least
}

// ownImage is a stored image, used as a reference.
type ownImage struct {
	engine *Engine
	id     imagegen.ImageID
}

var _ uploads.OfImage = ownImage{}

// ImageID implements [uploads.OfImage]: the record says which image it was.
func (o ownImage) ImageID() imagegen.ImageID { return o.id }

// Open implements [imagegen.Reference].
func (o ownImage) Open(ctx context.Context) (io.ReadCloser, error) {
	return o.engine.OpenImage(ctx, o.id)
}

// ImageAsReference returns one of the user's images as a reference for another generation. The record of
// that generation then contains the identifier of the image. ErrNotFound: there is no such image, or
// it belongs to somebody else.
func (s *Session) ImageAsReference(ctx context.Context, id imagegen.ImageID) (imagegen.Reference, error) {
	if _, _, err := findImage(ctx, id, s.Record); err != nil {
		return nil, err
	}
	return ownImage{s.engine, id}, nil
}

// SentReference is a reference image of one generation, which can be a reference for another one.
type SentReference struct {
	engine *Engine
	file   imagegen.ReferenceFile
}

// Open implements [imagegen.Reference]. ErrNotFound: the file is no longer kept.
func (i *SentReference) Open(ctx context.Context) (io.ReadCloser, error) {
	return i.engine.spool.Open(ctx, i.file.ID)
}

// MediaType returns image/png, image/jpeg or image/webp.
func (i *SentReference) MediaType() string { return i.file.MediaType }

// SentReference returns the n-th reference image of one of the user's generations, counted from 0
// without the mask. The file is kept until the generation ends. ErrNotFound: it is no longer kept,
// there is no such generation or image, or it belongs to somebody else.
func (s *Session) SentReference(ctx context.Context, id imagegen.GenerationID, n int) (*SentReference, error) {
	r, err := s.Record(ctx, id)
	if err != nil {
		return nil, err
	}
	sent := r.ReferenceImages()
	if n < 0 || n >= len(sent) {
		return nil, imagegen.ErrNotFound
	}
	i := &SentReference{s.engine, sent[n]}
	f, err := i.Open(ctx)
	if err != nil {
		return nil, imagegen.ToUserError(err)
	}
	return i, f.Close()
}
