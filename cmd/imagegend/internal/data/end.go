package data

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/transfer"
)

// End is one end of a move, open until Close.
type End struct {
	transfer.End
	Close func() error
}

// OpenEnd opens the data at a place as the source of a move or, with into, as its target. A source that everybody
// could have changed is refused.
func OpenEnd(ctx context.Context, at config.Data, into bool) (*End, error) {
	if err := at.Check(); err != nil {
		return nil, err
	}
	if at.Shared() {
		return openSharedEnd(ctx, at)
	}
	dir, err := filepath.Abs(at.DataDir)
	if err == nil && !into {
		err = private.CheckDir(dir)
	}
	if err != nil {
		return nil, err
	}
	e, err := storage.OpenTransferEndpoint(dir, into)
	if err != nil {
		return nil, err
	}
	return &End{transfer.End{Name: dir, Database: e, Images: e.Images(), Spool: e.Spool()}, e.Close}, nil
}

// openSharedEnd tries the bucket with an object before it opens the database, so that a wrong bucket shows before
// anything is moved.
func openSharedEnd(ctx context.Context, at config.Data) (*End, error) {
	o, err := openObjects(ctx, at, false)
	if err != nil {
		return nil, err
	}
	if err := o.Check(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("--images: %w", err), o.Close())
	}
	e, err := postgres.OpenTransferEndpoint(ctx, postgres.Config{URL: at.Database, Schema: at.DatabaseSchema,
		Migrate: true, Connections: at.DatabaseConnections,
		Images: o.Store})
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return &End{transfer.End{Name: at.String(), Database: e, Images: o.Store, Spool: o.Store}, func() error {
		return errors.Join(e.Close(), o.Close())
	}}, nil
}
