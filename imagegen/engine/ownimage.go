package engine

import (
	"context"
	"io"

	"github.com/imagegend/imagegend/imagegen"
)

// ownImage is a stored image as a reference.
type ownImage struct {
	engine *Engine
	id     imagegen.ImageID
}

// Open implements [imagegen.Reference].
func (o ownImage) Open(ctx context.Context) (io.ReadCloser, error) {
	return o.engine.OpenImage(ctx, o.id)
}

// OwnImage is one of the user's images as a reference for another generation, whose record then tells which
// image it was. ErrNotFound: there is no such image, or it is somebody else's.
func (s *Session) OwnImage(ctx context.Context, id imagegen.ImageID) (imagegen.Reference, error) {
	g, ok := id.Generation()
	if !ok {
		return nil, imagegen.ErrNotFound
	}
	r, err := s.own(ctx, g)
	if err != nil {
		return nil, err
	}
	if _, ok := published(r, id); !ok {
		return nil, imagegen.ErrNotFound
	}
	return ownImage{s.engine, id}, nil
}
