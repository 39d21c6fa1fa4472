package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// OpenImage implements [imagegen.Service].
func (s *Session) OpenImage(ctx context.Context, id imagegen.ImageID) (*imagegen.ImageFile, error) {
	return s.engine.OpenImage(ctx, id)
}

// OpenImage opens an image for anybody who knows its identifier; it needs no user. The caller
// closes it. ErrNotFound.
func (e *Engine) OpenImage(ctx context.Context, id imagegen.ImageID) (*imagegen.ImageFile, error) {
	r, i, err := findImage(ctx, id, e.Record)
	if err != nil {
		return nil, err
	}
	f, err := e.images.OpenImage(ctx, r.ImageKey(i))
	if err != nil {
		return nil, e.unopened(ctx, i, err)
	}
	return &imagegen.ImageFile{ReadSeekCloser: f, ID: i.ID, MediaType: i.MediaType, Size: i.Size,
		ETag: fmt.Sprintf("%x", i.SHA256), CreatedAt: i.CreatedAt}, nil
}

// linkAge is how long an address from LinkImage can be used.
const linkAge = 5 * time.Minute

// LinkImage returns an address in the image store itself, from which an image can be read for
// 5 minutes. ErrNotFound. [errors.ErrUnsupported]: the ImageStore is not an [imagegen.ImageLinker].
func (e *Engine) LinkImage(ctx context.Context, id imagegen.ImageID) (address string, err error) {
	links, ok := e.images.(imagegen.ImageLinker)
	if !ok {
		return "", errors.ErrUnsupported
	}
	r, i, err := findImage(ctx, id, e.Record)
	if err != nil {
		return "", err
	}
	address, err = links.Link(ctx, r.ImageKey(i), i.MediaType, linkAge)
	return address, imagegen.ToUserError(err)
}

// findImage finds an image in its record, which record reads if it may be seen: Engine.Record for
// anybody, Session.Record for the owner. The image may be there before its generation ends.
func findImage(ctx context.Context, id imagegen.ImageID,
	record func(context.Context, imagegen.GenerationID) (imagegen.Record, error)) (r imagegen.Record,
	i imagegen.StoredImage, err error) {
	g, ok := id.Generation()
	if !ok {
		return r, i, imagegen.ErrNotFound
	}
	if r, err = record(ctx, g); err != nil {
		return r, i, err
	}
	n := slices.IndexFunc(r.Images, func(i imagegen.StoredImage) bool { return i.ID == id })
	if n < 0 {
		return r, i, imagegen.ErrNotFound
	}
	return r, r.Images[n], nil
}

// unopened is the error for an image that a record names but that could not be opened:
// ErrNotFound if it was erased meanwhile, else an internal error, since its file is
// missing.
func (e *Engine) unopened(ctx context.Context, i imagegen.StoredImage, err error) error {
	if !errors.Is(err, imagegen.ErrNotFound) {
		return imagegen.ToUserError(err)
	}
	g, _ := i.ID.Generation()
	if _, err := e.Record(ctx, g); err == nil {
		return imagegen.Internal(fmt.Errorf("imagegen: the file of image %s is missing", i.ID))
	}
	return imagegen.ErrNotFound // erased meanwhile
}
