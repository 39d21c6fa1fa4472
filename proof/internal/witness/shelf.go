package witness

import (
	"context"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// Shelf is an image store and a spool that know which files lie there, no matter who put them there. It links no
// images: no storage of the proofs does.
type Shelf struct {
	imagegen.ImageStore
	imagegen.Spool

	mu      sync.Mutex
	images  map[imagegen.ImageKey]bool
	spooled map[imagegen.ReferenceID]bool
}

func NewShelf(images imagegen.ImageStore, spool imagegen.Spool) *Shelf {
	return &Shelf{ImageStore: images, Spool: spool, images: map[imagegen.ImageKey]bool{},
		spooled: map[imagegen.ReferenceID]bool{}}
}

// Inventory is all that lies there.
func (s *Shelf) Inventory() (images map[imagegen.ImageKey]bool, spooled map[imagegen.ReferenceID]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.images), maps.Clone(s.spooled)
}

// Compare says that all images that records name are there, and no others, and that the spool is empty.
// It returns how many files there are beyond that. Those for which there is an excuse may be.
func (s *Shelf) Compare(records []imagegen.Record, image func(imagegen.ImageKey) bool,
	spooled func(imagegen.ReferenceID) bool, fact Fact) (left int) {
	images, files := s.Inventory()
	for _, r := range records {
		for _, i := range r.Images {
			fact(images[r.ImageKey(i)], "image %s of %s is not there", i.ID, r.ID)
			delete(images, r.ImageKey(i))
		}
	}
	for k := range images {
		fact(image(k), "image %s of attempt %d is named by no record", k.Image, k.Attempt)
	}
	for id := range files {
		fact(spooled(id), "%s was left in the spool", id)
	}
	return len(images) + len(files)
}

// noteWrite writes down what was done, unless it failed.
func (s *Shelf) noteWrite(err error, done func()) error {
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		done()
	}
	return err
}

func (s *Shelf) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	return s.noteWrite(s.ImageStore.PutImage(ctx, k, r), func() { s.images[k] = true })
}

func (s *Shelf) RemoveImages(ctx context.Context, g imagegen.GenerationID, attempt int,
	keep ...imagegen.ImageID) error {
	return s.noteWrite(s.ImageStore.RemoveImages(ctx, g, attempt, keep...), func() {
		maps.DeleteFunc(s.images, func(k imagegen.ImageKey, _ bool) bool {
			return k.Generation == g && k.Attempt == attempt && !slices.Contains(keep, k.Image)
		})
	})
}

func (s *Shelf) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	return s.noteWrite(s.Spool.Stage(ctx, id, r), func() { s.spooled[id] = true })
}

func (s *Shelf) Remove(ctx context.Context, ids ...imagegen.ReferenceID) error {
	return s.noteWrite(s.Spool.Remove(ctx, ids...), func() {
		for _, id := range ids {
			delete(s.spooled, id)
		}
	})
}

// TakeSpace implements [imagegen.SpaceTaker], also over a spool that does not.
func (s *Shelf) TakeSpace(n int64) error {
	if t, ok := s.Spool.(imagegen.SpaceTaker); ok {
		return t.TakeSpace(n)
	}
	return nil
}
