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

// eachUpload lists the reference images that attempts to come need.
func eachUpload(t kv.Tx, f func(listed) error) error {
	return tables.Uploads(t, func(g imagegen.GenerationID, u imagegen.ReferenceFile) error {
		return f(listed{Key: imagegen.ImageKey{Generation: g}, Upload: u.ID, Size: u.Size, SHA256: u.SHA256})
	})
}

// uploads holds reference images for a backup. Each is linked to a name of its own, so that it goes
// on when its generation ends, and others are removed as always: a backup may take hours.
type uploads struct {
	files *files
	dir   string
}

// newUploads creates a directory for the links of one backup.
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

// open opens a held reference image, even if its generation has ended.
func (u *uploads) open(ctx context.Context, id imagegen.ReferenceID) (*os.File, error) {
	return u.files.open(ctx, u.path(id))
}

func (u *uploads) path(id imagegen.ReferenceID) string { return path.Join(u.dir, string(id)) }

// discard lets them go; what stays is removed at the next start.
func (u *uploads) discard() { _ = u.files.root.RemoveAll(u.dir) }
