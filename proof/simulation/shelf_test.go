package simulation_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// shelf is an image store and a spool that can tell what lies in them.
type shelf struct {
	imagegen.ImageStore

	mu     sync.Mutex
	images map[imagegen.ImageKey]bool
	spool  map[imagegen.ReferenceID][]byte
}

func newShelf(images imagegen.ImageStore) *shelf {
	return &shelf{ImageStore: images, images: map[imagegen.ImageKey]bool{}, spool: map[imagegen.ReferenceID][]byte{}}
}

var (
	_ imagegen.ImageStore = (*shelf)(nil)
	_ imagegen.Spool      = (*shelf)(nil)
)

func (s *shelf) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	if err := s.ImageStore.PutImage(ctx, k, r); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.images[k] = true
	return nil
}

func (s *shelf) RemoveImages(ctx context.Context, g imagegen.GenerationID, attempt int, keep ...imagegen.ImageID) error {
	if err := s.ImageStore.RemoveImages(ctx, g, attempt, keep...); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.images, func(k imagegen.ImageKey, _ bool) bool {
		return k.Generation == g && k.Attempt == attempt && !slices.Contains(keep, k.Image)
	})
	return nil
}

// mostSpooled is what is kept of one file: enough for every picture that can be good.
const mostSpooled = 5 << 20

func (s *shelf) Stage(_ context.Context, id imagegen.ReferenceID, r io.Reader) error {
	var b bytes.Buffer
	_, err := b.ReadFrom(io.LimitReader(r, mostSpooled))
	if err == nil {
		_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, make([]byte, 64<<10)) // io.Discard brings many buffers
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spool[id] = b.Bytes()
	return nil
}

func (s *shelf) Keep(context.Context, ...imagegen.ReferenceID) error { return nil }

func (s *shelf) Open(_ context.Context, id imagegen.ReferenceID) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.spool[id]
	if !ok {
		return nil, imagegen.ErrNotFound
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func (s *shelf) Remove(_ context.Context, ids ...imagegen.ReferenceID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		delete(s.spool, id)
	}
	return nil
}

// inventory is all that lies there.
func (s *shelf) inventory() (images []imagegen.ImageKey, spooled []imagegen.ReferenceID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.images)), slices.Collect(maps.Keys(s.spool))
}
