package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// OpenImage implements [imagegen.Service].
func (s *Session) OpenImage(ctx context.Context, id imagegen.ImageID) (*imagegen.ImageFile, error) {
	return s.engine.OpenImage(ctx, id)
}

// OpenImage opens an image; it needs no user, the identifier is the capability. The caller closes
// it. ErrNotFound.
func (e *Engine) OpenImage(ctx context.Context, id imagegen.ImageID) (*imagegen.ImageFile, error) {
	g, ok := id.Generation()
	if !ok {
		return nil, imagegen.ErrNotFound
	}
	r, err := e.store.Generation(ctx, g)
	if err != nil {
		return nil, imagegen.ToUserError(err)
	}
	i, ok := published(r, id)
	if !ok {
		return nil, imagegen.ErrNotFound
	}
	return e.openStored(ctx, r, i)
}

// published is the image of an identifier, if it may be seen: also before the end of its generation.
func published(r imagegen.Record, id imagegen.ImageID) (i imagegen.StoredImage, ok bool) {
	n := slices.IndexFunc(r.Images, func(i imagegen.StoredImage) bool { return i.ID == id })
	if n < 0 || !r.Visible() {
		return imagegen.StoredImage{}, false
	}
	return r.Images[n], true
}

func (e *Engine) openStored(ctx context.Context, r imagegen.Record, i imagegen.StoredImage) (*imagegen.ImageFile, error) {
	f, err := e.images.OpenImage(ctx, r.ImageKey(i))
	if err != nil {
		return nil, e.unopened(ctx, i, err)
	}
	return &imagegen.ImageFile{ReadSeekCloser: f, ID: i.ID, MediaType: i.MediaType, Size: i.Size,
		ETag: fmt.Sprintf("%x", i.SHA256), CreatedAt: i.CreatedAt}, nil
}

// unopened is what to say of an image that a record names and that could not be opened.
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
