package data

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/transfer"
)

// Backup implements Store. It copies everything, as it was when Backup began, into a data directory on this machine,
// and then archives that directory, so that an archive has one form wherever the data lies. Until it returns, the copy
// takes as much room as the data. Nodes go on working.
func (s *shared) Backup(ctx context.Context, w io.Writer) (err error) {
	dir, err := os.MkdirTemp(s.local.dir, "backup-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	e, err := storage.OpenTransferEndpoint(dir, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := s.copyInto(ctx, transfer.End{Name: dir, Database: e, Images: e.Images(), Spool: e.Spool()}); err != nil {
		return err
	}
	return e.Backup(ctx, w)
}

// copyInto copies one snapshot of the database, and the objects that it names.
func (s *shared) copyInto(ctx context.Context, to transfer.End) error {
	moment, err := s.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer moment.Close()
	// The snapshot fixes the records. Files have no snapshot: Now tells whether one that is missing was erased since.
	return transfer.Copy(ctx, transfer.Moment{Name: "the database", Snapshot: moment, Images: s.Store, Spool: s.Store,
		Now: s.Generation}, to)
}
