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
	images struct{ kept files[imagegen.ImageKey] }
	// spool implements imagegen.Spool. Its zero value is empty.
	spool struct{ staged files[imagegen.ReferenceID] }
)

// files keeps bytes under keys. They are never changed, so they are handed out without a copy. Its zero value is empty.
type files[K comparable] struct {
	mu  sync.RWMutex // guards all; it is not held while bytes are received
	all map[K][]byte
}

// file reads stored bytes. It can be read to its end even if they are removed meanwhile.
type file struct{ *bytes.Reader }

func (file) Close() error { return nil }

// put reads r to its end. It honours ctx only before it begins.
func (s *files[K]) put(ctx context.Context, k K, r io.Reader) error {
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
		s.all = make(map[K][]byte)
	}
	s.all[k] = b
	return nil
}

// open opens what is stored under a key. imagegen.ErrNotFound.
func (s *files[K]) open(k K) (io.ReadSeekCloser, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	b, there := s.all[k]
	if !there {
		return nil, imagegen.ErrNotFound
	}
	return file{bytes.NewReader(b)}, nil
}

// remove removes what is stored under the keys that are named.
func (s *files[K]) remove(named func(K) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.all, func(k K, _ []byte) bool { return named(k) })
}

func (s *files[K]) keys() []K {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Keys(s.all))
}

// PutImage implements [imagegen.ImageStore].
func (s *images) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	return s.kept.put(ctx, k, r)
}

// OpenImage implements [imagegen.ImageStore].
func (s *images) OpenImage(_ context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	return s.kept.open(k)
}

// RemoveImages implements [imagegen.ImageStore].
func (s *images) RemoveImages(ctx context.Context, g imagegen.GenerationID, attempt int,
	keep ...imagegen.ImageID) error {
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	s.kept.remove(func(k imagegen.ImageKey) bool {
		return k.Generation == g && k.Attempt == attempt && !slices.Contains(keep, k.Image)
	})
	return nil
}

// Images lists the images and thumbnails that are stored, in no order.
func (s *images) Images() []imagegen.ImageKey { return s.kept.keys() }

// Stage implements [imagegen.Spool]. Only the memory of the process limits it.
func (s *spool) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	return s.staged.put(ctx, id, r)
}

// Keep implements [imagegen.Spool]. It only checks that all of them were staged, since nothing here is durable.
func (s *spool) Keep(ctx context.Context, ids ...imagegen.ReferenceID) error {
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := s.staged.open(id); err != nil {
			return err
		}
	}
	return nil
}

// Open implements [imagegen.Spool].
func (s *spool) Open(_ context.Context, id imagegen.ReferenceID) (io.ReadCloser, error) {
	return s.staged.open(id)
}

// Remove implements [imagegen.Spool].
func (s *spool) Remove(_ context.Context, ids ...imagegen.ReferenceID) error {
	s.staged.remove(func(id imagegen.ReferenceID) bool { return slices.Contains(ids, id) })
	return nil
}

// References lists what is staged, in no order.
func (s *spool) References() []imagegen.ReferenceID { return s.staged.keys() }
