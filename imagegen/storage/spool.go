package storage

import (
	"context"
	"errors"
	"io"
	"path"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// spool is an imagegen.Spool.
type spool struct {
	files    *files
	space    *space
	removing sync.RWMutex // held to write by a backup until it holds what it needs
}

var (
	_ imagegen.Spool = (*spool)(nil)
)

func spoolPath(id imagegen.ReferenceID) string { return path.Join(spoolDir, string(id)) }

// Stage implements [imagegen.Spool].
func (s *spool) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	if !isPlain(string(id)) {
		return imagegen.Invalid("%q cannot name a file", id)
	}
	if err := s.space.forImage(); err != nil {
		return notApplied(err)
	}
	return s.files.write(ctx, spoolPath(id), r, false)
}

// TakeSpace implements [imagegen.Spool].
func (s *spool) TakeSpace(n int64) error {
	if err := s.space.take(n); err != nil {
		return notApplied(err)
	}
	return nil
}

// Keep implements [imagegen.Spool]. imagegen.ErrNotFound.
func (s *spool) Keep(ctx context.Context, ids ...imagegen.ReferenceID) error {
	if err := s.files.begin(ctx); err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		if !isPlain(string(id)) {
			return imagegen.ErrNotFound
		}
		if err := s.files.sync(ctx, spoolPath(id)); err != nil {
			return err
		}
	}
	return s.files.syncDir(spoolDir)
}

// Open implements [imagegen.Spool].
func (s *spool) Open(ctx context.Context, id imagegen.ReferenceID) (io.ReadCloser, error) {
	if !isPlain(string(id)) {
		return nil, imagegen.ErrNotFound
	}
	f, err := s.files.open(ctx, spoolPath(id))
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Remove implements [imagegen.Spool].
func (s *spool) Remove(ctx context.Context, ids ...imagegen.ReferenceID) error {
	if err := s.files.begin(ctx); err != nil {
		return err
	}
	s.removing.RLock()
	defer s.removing.RUnlock()
	var errs []error
	for _, id := range ids {
		if isPlain(string(id)) {
			errs = append(errs, s.files.remove(spoolPath(id)))
		}
	}
	return errors.Join(errs...)
}
