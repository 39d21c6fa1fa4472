package memory

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// images implements imagegen.ImageStore. Its zero value is empty. Stored bytes are never changed, so they are handed
// out without a copy.
type images struct {
	mu       sync.RWMutex // guards attempts and the maps in it
	attempts map[attempt]map[imagegen.ImageID][]byte
}

type attempt struct {
	generation imagegen.GenerationID
	number     int
}

// file reads stored bytes. It can be read to its end even if they are removed meanwhile.
type file struct{ *bytes.Reader }

func (file) Close() error { return nil }

// PutImage implements [imagegen.ImageStore].
func (s *images) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	b, err := receive(ctx, r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := attempt{k.Generation, k.Attempt}
	if s.attempts == nil {
		s.attempts = make(map[attempt]map[imagegen.ImageID][]byte)
	}
	if s.attempts[a] == nil {
		s.attempts[a] = make(map[imagegen.ImageID][]byte)
	}
	s.attempts[a][k.Image] = b
	return nil
}

// OpenImage implements [imagegen.ImageStore].
func (s *images) OpenImage(_ context.Context, k imagegen.ImageKey) (io.ReadSeekCloser, error) {
	b, ok := s.bytes(k)
	if !ok {
		return nil, imagegen.ErrNotFound
	}
	return file{bytes.NewReader(b)}, nil
}

// RemoveImages implements [imagegen.ImageStore].
func (s *images) RemoveImages(ctx context.Context, g imagegen.GenerationID, number int,
	keep ...imagegen.ImageID) error {
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := attempt{g, number}
	for id := range s.attempts[a] {
		if !slices.Contains(keep, id) {
			delete(s.attempts[a], id)
		}
	}
	if len(s.attempts[a]) == 0 {
		delete(s.attempts, a)
	}
	return nil
}

// bytes returns a stored image, which the caller must not change.
func (s *images) bytes(k imagegen.ImageKey) ([]byte, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	b, ok := s.attempts[attempt{k.Generation, k.Attempt}][k.Image]
	return b, ok
}

// Images lists the images and thumbnails that are stored, in no order.
func (s *images) Images() (all []imagegen.ImageKey) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for a, stored := range s.attempts {
		for id := range stored {
			all = append(all, imagegen.ImageKey{Generation: a.generation, Attempt: a.number, Image: id})
		}
	}
	return all
}

// auditImage compares an image with its record, and reports one violation at most.
func (s *images) auditImage(f rules.File, report func(imagegen.Violation)) {
	violation := imagegen.Violation{Rule: "image bytes", Subject: string(f.Key.Image)}
	if b, ok := s.bytes(f.Key); !ok {
		violation.Detail = "there are none"
	} else if wrong := f.Compare(bytes.NewReader(b)); wrong != nil {
		violation.Detail = "it " + wrong.Error()
	} else {
		return
	}
	report(violation)
}

// receive reads r to its end. It honours ctx only before it begins.
func receive(ctx context.Context, r io.Reader) ([]byte, error) {
	if err := kv.NotBegun(ctx); err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
