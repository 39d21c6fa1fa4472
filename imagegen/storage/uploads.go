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
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// uploads holds reference images for a backup, which may take hours. Each gets a second link in a directory of
// the backup. So it outlives its generation, and meanwhile the spool works as always.
type uploads struct {
	files *files
	dir   string // of the links, in tempDir
}

// newUploads creates a directory for the links of one backup, which discard removes. It is in tempDir, so a killed
// process leaves nothing for good.
func (s *spool) newUploads() (*uploads, error) {
	u := &uploads{s.files, s.files.newTemp()}
	if err := s.files.root.Mkdir(u.dir, 0o700); err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	return u, nil
}

// hold stops removals from the spool, which wait, until release is called; a second call of release does nothing.
func (s *spool) hold() (release func()) {
	s.removing.Lock()
	return sync.OnceFunc(s.removing.Unlock)
}

// linkAll links what a snapshot needs, and adds it to the list. Removals have to be on hold. A file that is not in the
// spool is left out: another Spool may keep it.
func (u *uploads) linkAll(t kv.Tx, list *inventory) error {
	return tables.References(t, func(f rules.File) error {
		err := u.files.root.Link(filePath(f), u.path(f.Upload))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("storage: %w", err)
		}
		return list.addFile(f)
	})
}

// openLink opens a held reference image, even if its generation has ended.
func (u *uploads) openLink(ctx context.Context, id imagegen.ReferenceID) (*os.File, error) {
	return u.files.open(ctx, u.path(id))
}

// path is the link of a reference image.
func (u *uploads) path(id imagegen.ReferenceID) string { return path.Join(u.dir, string(id)) }

// discard removes the links. What it cannot remove is removed at the next start.
func (u *uploads) discard() { _ = u.files.root.RemoveAll(u.dir) }
