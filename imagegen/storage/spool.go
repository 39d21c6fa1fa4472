package storage

import (
	"context"
	"errors"
	"io"
	"path"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// spool is an imagegen.Spool: each reference image is one file in spoolDir, named by its identifier.
type spool struct {
	files *files
	space *space

	// removing is read-locked by removals, and locked by a backup until it has linked the files that it needs.
	removing sync.RWMutex
}

var (
	_ imagegen.Spool      = (*spool)(nil)
	_ imagegen.SpaceTaker = (*spool)(nil)
)

// spoolPath is where a reference image lies below the directory.
func spoolPath(id imagegen.ReferenceID) string { return path.Join(spoolDir, string(id)) }

// Stage implements [imagegen.Spool]. It does not flush the file to the disk; Keep does.
func (s *spool) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	if !isPlain(string(id)) {
		return imagegen.Invalid("%q cannot name a file", id)
	}
	if err := s.space.forImage(); err != nil {
		return notApplied(err)
	}
	return s.files.writeFile(ctx, spoolPath(id), r, false)
}

// TakeSpace implements [imagegen.SpaceTaker]. The n bytes count as used until the free space of
// the disk is next determined, at most a second later.
func (s *spool) TakeSpace(n int64) error {
	if err := s.space.reserve(n); err != nil {
		return notApplied(err)
	}
	return nil
}

// Keep implements [imagegen.Spool]. It flushes each file, and then their directory once.
func (s *spool) Keep(ctx context.Context, ids ...imagegen.ReferenceID) error {
	if err := s.files.writable(ctx); err != nil || len(ids) == 0 {
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

// Remove implements [imagegen.Spool]. If one cannot be removed, it still tries the others. The removal is not flushed:
// a file that comes back after a power cut is removed at the next start.
func (s *spool) Remove(ctx context.Context, ids ...imagegen.ReferenceID) error {
	if err := s.files.writable(ctx); err != nil {
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
