package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Spool keeps reference images in the local directory. Keep also puts them as objects, since another node may do the
// work that they belong to. Images that were only staged are known to this process alone, and are lost with it. Spool
// is a part of a [Store].
type Spool struct {
	objects *objects
	local   *local

	mu     sync.Mutex // guards staged; it is held during no request
	staged map[imagegen.ReferenceID]staged
}

// staged is a reference image that came to this process.
type staged struct {
	received      // its local file
	kept     bool // it is an object as well
	sent     bool // it may be one
}

func newSpool(o *objects, l *local) *Spool {
	return &Spool{objects: o, local: l, staged: make(map[imagegen.ReferenceID]staged)}
}

// referenceKey is the key of a reference image. Its identifier has to be plain.
func referenceKey(id imagegen.ReferenceID) string {
	return referencesPrefix + spread(string(id)) + "/" + string(id)
}

// here returns a reference image of this process; false: it has none of this identifier.
func (s *Spool) here(id imagegen.ReferenceID) (staged, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.staged[id]
	return f, ok
}

func (s *Spool) set(id imagegen.ReferenceID, f staged) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.staged[id] = f
}

// Stage implements [imagegen.Spool]. It replaces an image that was staged under the same identifier.
func (s *Spool) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	if !kv.Plain(string(id)) {
		return imagegen.Invalid("%q cannot name an object", id)
	}
	got, err := s.local.receive(ctx, r)
	if err != nil {
		return err
	}
	former, replaced := s.here(id)
	s.set(id, staged{received: got})
	if replaced {
		return s.local.remove(former.name)
	}
	return nil
}

// Keep implements [imagegen.Spool]. If another process has kept an image, Keep succeeds. imagegen.ErrNotFound: an image
// was neither staged in this process nor kept by another one. Keep stops at the first image that it cannot keep.
func (s *Spool) Keep(ctx context.Context, ids ...imagegen.ReferenceID) error {
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.keep(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// keep keeps one reference image. Keeping it again takes no request.
func (s *Spool) keep(ctx context.Context, id imagegen.ReferenceID) error {
	f, ok := s.here(id)
	switch {
	case !ok:
		if !kv.Plain(string(id)) {
			return imagegen.ErrNotFound
		}
		return s.objects.opens(ctx, referenceKey(id))
	case f.kept:
		return nil
	}
	err := s.objects.putFile(ctx, referenceKey(id), s.local, f.received)
	f.kept, f.sent = err == nil, f.sent || !imagegen.Definite(err)
	s.set(id, f)
	return err
}

// Open implements [imagegen.Spool]. An image that was staged in this process is read from its local file.
func (s *Spool) Open(ctx context.Context, id imagegen.ReferenceID) (io.ReadCloser, error) {
	if !kv.Plain(string(id)) {
		return nil, imagegen.ErrNotFound
	}
	if f, ok := s.here(id); ok {
		opened, err := s.local.root.Open(f.name)
		if err != nil {
			return nil, fmt.Errorf("s3: %w", err)
		}
		return opened, nil
	}
	return s.objects.openObject(ctx, referenceKey(id))
}

// Remove implements [imagegen.Spool]. It makes no request for an image that was staged in this process and of which
// certainly no object was made. It tries to remove all of them and returns all errors; after an error it can be
// repeated.
func (s *Spool) Remove(ctx context.Context, ids ...imagegen.ReferenceID) error {
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	var errs []error
	for _, id := range ids {
		if kv.Plain(string(id)) {
			errs = append(errs, s.forget(ctx, id))
		}
	}
	return errors.Join(errs...)
}

// forget removes one reference image: the object first, so that after a failure it is still known that there is one.
func (s *Spool) forget(ctx context.Context, id imagegen.ReferenceID) error {
	f, here := s.here(id)
	if !here || f.sent {
		if err := s.objects.remove(ctx, referenceKey(id)); err != nil {
			return err
		}
	}
	if !here {
		return nil
	}
	s.mu.Lock()
	delete(s.staged, id)
	s.mu.Unlock()
	return s.local.remove(f.name)
}
