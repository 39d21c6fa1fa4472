package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/thumbnails"
	"github.com/imagegend/imagegend/imagegen/internal/picture"
)

// newThumbnails connects the maker of thumbnails to the stores and to the decoding
// budget.
func (e *Engine) newThumbnails() *thumbnails.Maker {
	return thumbnails.New(thumbnails.Config{Store: e.store, Images: e.images, Decoding: e.decoding,
		Budget: decodeBudget, Room: e.storeReady, Log: e.cfg.Log,
		Remove: func(ctx context.Context, k imagegen.ImageKey) { e.removeImages(ctx, k.Generation, k.Attempt) }})
}

// OpenThumbnail opens a small copy of one of the user's images: at most 320 pixels wide
// and high, as a JPEG, or as a PNG if part of it is transparent. If there is none
// yet, OpenThumbnail makes it. The caller closes it. ErrNotFound: there is no such image, it
// belongs to somebody else, or Config.Thumbnails is not set.
func (s *Session) OpenThumbnail(ctx context.Context, id imagegen.ImageID) (*imagegen.ImageFile, error) {
	e := s.engine
	if !e.cfg.Thumbnails {
		return nil, imagegen.ErrNotFound
	}
	r, i, err := findImage(ctx, id, s.Record)
	if err != nil {
		return nil, err
	}
	b, err := e.thumbnails.Read(ctx, r, i)
	if err != nil {
		return nil, e.unopened(ctx, i, err)
	}
	mediaType, err := picture.MediaType(b)
	if err != nil {
		return nil, imagegen.Internal(fmt.Errorf("imagegen: the thumbnail of image %s: %w", id, err))
	}
	return &imagegen.ImageFile{ReadSeekCloser: nopCloser{bytes.NewReader(b)}, ID: id, MediaType: mediaType,
		Size: int64(len(b)), ETag: fmt.Sprintf("%x", sha256.Sum256(b)), CreatedAt: i.CreatedAt}, nil
}

// nopCloser is bytes that need no closing.
type nopCloser struct{ *bytes.Reader }

func (nopCloser) Close() error { return nil }
