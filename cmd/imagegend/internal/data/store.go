// Package data opens what a service keeps: the directory of one machine, or a database and an object store that any
// number of machines share. [Open] is for servers and commands; [OpenEnd] for moving everything from one place to
// another.
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

// Store keeps everything that a service keeps. It is its own ledger, so that a record and its charge are one commit.
// It is safe for concurrent use until Close.
type Store interface {
	imagegen.TxStore
	imagegen.CreditAdmin
	account.LoginStore
	account.OperatorKeyStore
	imagegen.Inspector
	imagegen.TotalsKeeper
	imagegen.FeedKeeper
	account.TrailStore
	imagegen.Timekeeper
	imagegen.ImageStore
	imagegen.Spool
	imagegen.ReadinessChecker
	imagegen.Warner

	// Backup writes everything as one archive, as it was when Backup began. After an error the archive is worthless.
	Backup(ctx context.Context, w io.Writer) error
	// Space returns how much room the disk of this machine's directory has.
	Space() (storage.Space, error)
	// Failed is closed when the disk fails under a commit: the process must then exit without writing on. nil: never.
	Failed() <-chan struct{}
	// Err returns why nothing is written any more; nil if writing works.
	Err() error
	// Close releases everything. Nobody may use the Store any more.
	Close() error
}

var (
	_ Store = (*storage.DB)(nil)
	_ Store = (*shared)(nil)
)

// Options says how data is opened.
type Options struct {
	Serving  bool              // for a server: makes what does not exist yet, and runs background work
	Observer imagegen.Observer // of commits; nil: none
	Log      *slog.Logger      // nil: silent
}

// Open opens the data at a place. The errors are those of packages storage, postgres and s3; storage.ErrLocked means
// that another process has the directory open.
func Open(ctx context.Context, at config.Data, o Options) (Store, error) {
	if err := at.Check(); err != nil {
		return nil, err
	}
	if at.Shared() {
		s, err := openShared(ctx, at, o)
		if err != nil {
			return nil, err // not s: a nil *shared in a Store would not be a nil Store
		}
		return s, nil
	}
	db, err := storage.Open(at.DataDir, &storage.Options{MustExist: !o.Serving, Observer: o.Observer, Log: o.Log})
	if err != nil {
		return nil, err
	}
	return db, nil
}
