package crash_test

import (
	"context"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// shelf knows which files there are, whoever made them.
type shelf struct {
	mu      sync.Mutex
	images  map[imagegen.ImageKey]bool
	spooled map[imagegen.ReferenceID]bool
}

func newShelf() *shelf {
	return &shelf{images: map[imagegen.ImageKey]bool{}, spooled: map[imagegen.ReferenceID]bool{}}
}

func (h *shelf) put(k imagegen.ImageKey) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.images[k] = true
}

func (h *shelf) remove(g imagegen.GenerationID, attempt int, keep []imagegen.ImageID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.images, func(k imagegen.ImageKey, _ bool) bool {
		return k.Generation == g && k.Attempt == attempt && !slices.Contains(keep, k.Image)
	})
}

func (h *shelf) stage(id imagegen.ReferenceID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.spooled[id] = true
}

func (h *shelf) forget(ids []imagegen.ReferenceID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		delete(h.spooled, id)
	}
}

// images is the image store of one process.
type images struct {
	imagegen.ImageStore
	*steps
	shelf *shelf
}

func (i images) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	return act(i.steps, "PutImage", func() error {
		err := i.ImageStore.PutImage(ctx, k, r)
		if err == nil {
			i.shelf.put(k)
		}
		return err
	})
}

func (i images) OpenImage(ctx context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	return step(i.steps, "OpenImage", func() (io.ReadSeekCloser, error) { return i.ImageStore.OpenImage(ctx, k) })
}

func (i images) RemoveImages(ctx context.Context, g imagegen.GenerationID, attempt int, keep ...imagegen.ImageID) error {
	return act(i.steps, "RemoveImages", func() error {
		err := i.ImageStore.RemoveImages(ctx, g, attempt, keep...)
		if err == nil {
			i.shelf.remove(g, attempt, keep)
		}
		return err
	})
}

// spool is the spool of one process.
type spool struct {
	imagegen.Spool
	*steps
	shelf *shelf
}

func (s spool) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	return act(s.steps, "Stage", func() error {
		err := s.Spool.Stage(ctx, id, r)
		if err == nil {
			s.shelf.stage(id)
		}
		return err
	})
}

func (s spool) Keep(ctx context.Context, ids ...imagegen.ReferenceID) error {
	return act(s.steps, "Keep", func() error { return s.Spool.Keep(ctx, ids...) })
}

func (s spool) Open(ctx context.Context, id imagegen.ReferenceID) (io.ReadCloser, error) {
	return step(s.steps, "Open", func() (io.ReadCloser, error) { return s.Spool.Open(ctx, id) })
}

func (s spool) Remove(ctx context.Context, ids ...imagegen.ReferenceID) error {
	return act(s.steps, "Remove", func() error {
		err := s.Spool.Remove(ctx, ids...)
		if err == nil {
			s.shelf.forget(ids)
		}
		return err
	})
}
