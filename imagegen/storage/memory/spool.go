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
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// spool implements imagegen.Spool. Its zero value is empty. Staged bytes are never changed, so they are handed out
// without a copy.
type spool struct {
	mu     sync.RWMutex // guards staged; it is not held while bytes are received
	staged map[imagegen.ReferenceID][]byte
}

// Stage implements [imagegen.Spool]. Only the memory of the process limits it.
func (s *spool) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	b, err := receive(ctx, r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.staged == nil {
		s.staged = make(map[imagegen.ReferenceID][]byte)
	}
	s.staged[id] = b
	return nil
}

// auditReference compares a reference image of work that waits with its record. One that is missing is not a violation,
// since another Spool may keep it.
func (s *spool) auditReference(f rules.File, report func(imagegen.Violation)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	b, ok := s.staged[f.Upload]
	if wrong := f.Compare(bytes.NewReader(b)); ok && wrong != nil {
		report(imagegen.Violation{Rule: "reference bytes", Subject: string(f.Upload), Detail: "it " + wrong.Error()})
	}
}

// References lists what is staged, in no order.
func (s *spool) References() []imagegen.ReferenceID {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Keys(s.staged))
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
	s.mu.RLock()
	defer s.mu.RUnlock()
	b, ok := s.staged[id]
	if !ok {
		return nil, imagegen.ErrNotFound
	}
	return file{bytes.NewReader(b)}, nil
}

// Remove implements [imagegen.Spool].
func (s *spool) Remove(_ context.Context, ids ...imagegen.ReferenceID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		delete(s.staged, id)
	}
	return nil
}
