package memory

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

type (
	// images implements imagegen.ImageStore. Its zero value is empty.
	images struct {
		kept files[attempt, imagegen.ImageID]
	}
	// spool implements imagegen.Spool. Its zero value is empty.
	spool struct {
		staged files[imagegen.ReferenceID, struct{}]
	}
)

type attempt struct {
	generation imagegen.GenerationID
	number     int
}

// files keeps bytes under keys, in groups that are removed at once. They are never changed, so they are handed out
// without a copy. Its zero value is empty.
type files[G, K comparable] struct {
	mu  sync.RWMutex // guards all; it is not held while bytes are received
	all map[G]map[K][]byte
}

// file reads stored bytes. It can be read to its end even if they are removed meanwhile.
type file struct{ *bytes.Reader }

func (file) Close() error { return nil }

// put reads r to its end. It honours ctx only before it begins.
func (s *files[G, K]) put(ctx context.Context, g G, k K, r io.Reader) error {
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[G]map[K][]byte)
	}
	if s.all[g] == nil {
		s.all[g] = make(map[K][]byte)
	}
	s.all[g][k] = b
	return nil
}

// open opens what is stored under a key. imagegen.ErrNotFound.
func (s *files[G, K]) open(g G, k K) (io.ReadSeekCloser, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	b, there := s.all[g][k]
	if !there {
		return nil, imagegen.ErrNotFound
	}
	return file{bytes.NewReader(b)}, nil
}

// remove removes what is stored in a group, but for the keys to keep.
func (s *files[G, K]) remove(g G, keep ...K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.all[g], func(k K, _ []byte) bool { return !slices.Contains(keep, k) })
	if len(s.all[g]) == 0 {
		delete(s.all, g)
	}
}

// PutImage implements [imagegen.ImageStore].
func (s *images) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	return s.kept.put(ctx, attempt{k.Generation, k.Attempt}, k.Image, r)
}

// OpenImage implements [imagegen.ImageStore].
func (s *images) OpenImage(_ context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	return s.kept.open(attempt{k.Generation, k.Attempt}, k.Image)
}

// RemoveImages implements [imagegen.ImageStore].
func (s *images) RemoveImages(ctx context.Context, g imagegen.GenerationID, number int,
	keep ...imagegen.ImageID) error {
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	s.kept.remove(attempt{g, number}, keep...)
	return nil
}

// Images lists the images and thumbnails that are stored, in no order.
func (s *images) Images() (all []imagegen.ImageKey) {
	s.kept.mu.RLock()
	defer s.kept.mu.RUnlock()
	for a, stored := range s.kept.all {
		for id := range stored {
			all = append(all, imagegen.ImageKey{Generation: a.generation, Attempt: a.number, Image: id})
		}
	}
	return all
}

// Stage implements [imagegen.Spool]. Only the memory of the process limits it.
func (s *spool) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	return s.staged.put(ctx, id, struct{}{}, r)
}

// Keep implements [imagegen.Spool]. It only checks that all of them were staged, since nothing here is durable.
func (s *spool) Keep(ctx context.Context, ids ...imagegen.ReferenceID) error {
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := s.Open(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// Open implements [imagegen.Spool].
func (s *spool) Open(_ context.Context, id imagegen.ReferenceID) (io.ReadCloser, error) {
	return s.staged.open(id, struct{}{})
}

// Remove implements [imagegen.Spool].
func (s *spool) Remove(_ context.Context, ids ...imagegen.ReferenceID) error {
	for _, id := range ids {
		s.staged.remove(id)
	}
	return nil
}

// References lists what is staged, in no order.
func (s *spool) References() []imagegen.ReferenceID {
	s.staged.mu.RLock()
	defer s.staged.mu.RUnlock()
	return slices.Collect(maps.Keys(s.staged.all))
}
