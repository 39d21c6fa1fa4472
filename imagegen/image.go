package imagegen

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// OpenImage implements [Service].
func (s *Session) OpenImage(ctx context.Context, id ImageID) (*ImageFile, error) {
	return s.engine.OpenImage(ctx, id)
}

// OpenImage opens an image; it needs no user, the identifier is the capability. The caller closes
// it. ErrNotFound.
func (e *Engine) OpenImage(ctx context.Context, id ImageID) (*ImageFile, error) {
	g, ok := id.Generation()
	if !ok {
		return nil, ErrNotFound
	}
	r, err := e.store.Generation(ctx, g)
	if err != nil {
		return nil, ToUserError(err)
	}
	i, ok := published(r, id)
	if !ok {
		return nil, ErrNotFound
	}
	return e.openStored(ctx, r, i)
}

// published is the image of an identifier.
func published(r Record, id ImageID) (i StoredImage, ok bool) {
	n := slices.IndexFunc(r.Images, func(i StoredImage) bool { return i.ID == id })
	if n < 0 || r.State != StateSucceeded {
		return StoredImage{}, false
	}
	return r.Images[n], true
}

func (e *Engine) openStored(ctx context.Context, r Record, i StoredImage) (*ImageFile, error) {
	f, err := e.images.OpenImage(ctx, r.ImageKey(i))
	if err != nil {
		return nil, e.unopened(ctx, i, err)
	}
	return &ImageFile{ReadSeekCloser: f, ID: i.ID, MediaType: i.MediaType, Size: i.Size,
		ETag: fmt.Sprintf("%x", i.SHA256), CreatedAt: i.CreatedAt}, nil
}

// unopened is what to say of an image that a record names and that could not be opened.
func (e *Engine) unopened(ctx context.Context, i StoredImage, err error) error {
	if !errors.Is(err, ErrNotFound) {
		return ToUserError(err)
	}
	g, _ := i.ID.Generation()
	now, again := e.store.Generation(ctx, g)
	if again == nil && now.State == StateSucceeded {
		return Internal(fmt.Errorf("imagegen: the file of image %s is missing", i.ID))
	}
	return ErrNotFound // erased meanwhile
}
