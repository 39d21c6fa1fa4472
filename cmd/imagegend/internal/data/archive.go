package data

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/transfer"
)

// Backup implements Store: everything as it was at the beginning, in the form in which a directory is backed up. It is
// made in a directory of this machine first, which takes as much room again. Nodes go on meanwhile.
func (s *shared) Backup(ctx context.Context, w io.Writer) (err error) {
	dir, err := os.MkdirTemp(s.local.dir, "backup-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	e, err := storage.OpenEnd(dir, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := s.copyInto(ctx, transfer.End{Name: dir, Database: e, Images: e.Images(), Spool: e.Spool()}); err != nil {
		return err
	}
	return e.Backup(ctx, w)
}

func (s *shared) copyInto(ctx context.Context, to transfer.End) error {
	moment, err := s.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer moment.Close()
	return transfer.Copy(ctx, transfer.Moment{Name: "the database", Snapshot: moment, Images: s.Store, Spool: s.Store, Now: s.Generation}, to)
}
