package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// eachUpload calls f for each reference image that an attempt to come needs, until f returns an
// error, which it returns. Synchronous work has no attempt to come: nobody waits for it any more.
func eachUpload(t kv.Tx, f func(listed) error) error {
	return tables.Open(t, func(r imagegen.Record) error {
		if !waits(r) {
			return nil
		}
		for _, u := range r.References {
			if err := f(listed{Key: imagegen.ImageKey{Generation: r.ID}, Upload: u.ID, Size: u.Size, SHA256: u.SHA256}); err != nil {
				return err
			}
		}
		return nil
	})
}

func waits(r imagegen.Record) bool {
	return r.Async && (r.State == imagegen.StateQueued || r.State == imagegen.StateProcessing)
}

// uploads holds reference images for a backup. Each is linked to a name of its own, so that it goes
// on when its generation ends, and others are removed as always: a backup may take hours.
type uploads struct {
	files *files
	dir   string
}

func (s *spool) newUploads() (*uploads, error) {
	u := &uploads{s.files, s.files.newTemp()}
	if err := s.files.root.Mkdir(u.dir, 0o700); err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	return u, nil
}

// hold has nothing removed from the spool until release is called.
func (s *spool) hold() (release func()) {
	s.removing.Lock()
	return sync.OnceFunc(s.removing.Unlock)
}

// take holds what a snapshot needs, and lists it.
func (u *uploads) take(t kv.Tx, list *inventory) error {
	return eachUpload(t, func(i listed) error {
		err := u.files.root.Link(i.path(), u.path(i.Upload))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("storage: %w", err)
		}
		return list.add(i)
	})
}

func (u *uploads) open(ctx context.Context, id imagegen.ReferenceID) (*os.File, error) {
	return u.files.open(ctx, u.path(id))
}

func (u *uploads) path(id imagegen.ReferenceID) string { return path.Join(u.dir, string(id)) }

// discard lets them go; what stays is removed at the next start.
func (u *uploads) discard() { _ = u.files.root.RemoveAll(u.dir) }
