// Package data opens what a service keeps: the directory of one machine, or a database and an object store that
// any number of machines share.
package data

import (
	"context"
	"io"
	"log/slog"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// Store keeps all that a service keeps. It is its own ledger, with which it commits.
type Store interface {
	imagegen.JointStore
	imagegen.CreditAdmin
	account.LoginStore
	account.OperatorKeyStore
	imagegen.Inspector
	account.TrailStore
	imagegen.Timekeeper
	imagegen.ImageStore
	imagegen.Spool

	// Ready and Warnings are those of [imagegen.Store].
	Ready(ctx context.Context) error
	Warnings(ctx context.Context) []imagegen.Notice
	// Backup writes everything as one archive.
	Backup(ctx context.Context, w io.Writer) error
	// Space tells how much room there is on this machine's disk.
	Space() (storage.Space, error)
	// Failed is closed when the process has to end: the disk failed under a commit.
	Failed() <-chan struct{}
	// Err tells why no more is written; nil if it is.
	Err() error
	// Close ends it, once nobody uses it any more.
	Close() error
}

var (
	_ Store = (*storage.DB)(nil)
	_ Store = (*shared)(nil)
)

// Options are how data is opened.
type Options struct {
	Serving  bool              // by a server, which makes what is not there yet
	Observer imagegen.Observer // of commits; nil: nobody is told
	Log      *slog.Logger      // nil: silent
}

// Open opens what lies at a place. Its errors are those of package storage, or of packages postgres and s3.
func Open(ctx context.Context, at config.Data, o Options) (Store, error) {
	if err := at.Check(); err != nil {
		return nil, err
	}
	if at.Shared() {
		s, err := openShared(ctx, at, o)
		if err != nil {
			return nil, err // and no Store that holds nothing
		}
		return s, nil
	}
	db, err := storage.Open(at.DataDir, &storage.Options{MustExist: !o.Serving, Observer: o.Observer, Log: o.Log})
	if err != nil {
		return nil, err
	}
	return db, nil
}
