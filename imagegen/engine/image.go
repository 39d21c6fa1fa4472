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
	r, i, err := e.readable(ctx, id)
	if err != nil {
		return nil, err
	}
	return e.openStored(ctx, r, i)
}

// linkAge is how long an address from LinkImage can be used.
const linkAge = 5 * time.Minute

// LinkImage returns an address in the image store itself, from which an image can be read for
// 5 minutes. ErrNotFound. [errors.ErrUnsupported]: the [imagegen.ImageStore] has no method Link.
func (e *Engine) LinkImage(ctx context.Context, id imagegen.ImageID) (address string, err error) {
	links, ok := e.images.(interface {
		Link(context.Context, imagegen.ImageKey, string, time.Duration) (string, error)
	})
	if !ok {
		return "", errors.ErrUnsupported
	}
	r, i, err := e.readable(ctx, id)
	if err != nil {
		return "", err
	}
	address, err = links.Link(ctx, r.ImageKey(i), i.MediaType, linkAge)
	return address, imagegen.ToUserError(err)
}

// readable finds an image that may be seen, and its record.
func (e *Engine) readable(ctx context.Context, id imagegen.ImageID) (r imagegen.Record, i imagegen.StoredImage, err error) {
	g, ok := id.Generation()
	if !ok {
		return r, i, imagegen.ErrNotFound
	}
	if r, err = e.store.Generation(ctx, g); err != nil {
		return r, i, imagegen.ToUserError(err)
	}
	if i, ok = published(r, id); !ok {
		return r, i, imagegen.ErrNotFound
	}
	return r, i, nil
}

// published returns the image with that identifier if it may be seen, which it can be
// before its generation ends.
func published(r imagegen.Record, id imagegen.ImageID) (i imagegen.StoredImage, ok bool) {
	n := slices.IndexFunc(r.Images, func(i imagegen.StoredImage) bool { return i.ID == id })
	if n < 0 || !r.Visible() {
		return imagegen.StoredImage{}, false
	}
	return r.Images[n], true
}

// openStored opens the bytes of an image that readable has found.
func (e *Engine) openStored(ctx context.Context, r imagegen.Record, i imagegen.StoredImage) (*imagegen.ImageFile, error) {
	f, err := e.images.OpenImage(ctx, r.ImageKey(i))
	if err != nil {
		return nil, e.unopened(ctx, i, err)
	}
	return &imagegen.ImageFile{ReadSeekCloser: f, ID: i.ID, MediaType: i.MediaType, Size: i.Size,
		ETag: fmt.Sprintf("%x", i.SHA256), CreatedAt: i.CreatedAt}, nil
}

// unopened is the error for an image that a record names but that could not be opened:
// ErrNotFound if it was erased meanwhile, else an internal error, since its file is
// missing.
func (e *Engine) unopened(ctx context.Context, i imagegen.StoredImage, err error) error {
	if !errors.Is(err, imagegen.ErrNotFound) {
		return imagegen.ToUserError(err)
	}
	g, _ := i.ID.Generation()
	now, again := e.store.Generation(ctx, g)
	if again == nil && now.Visible() {
		return imagegen.Internal(fmt.Errorf("imagegen: the file of image %s is missing", i.ID))
	}
	return imagegen.ErrNotFound // erased meanwhile
}
