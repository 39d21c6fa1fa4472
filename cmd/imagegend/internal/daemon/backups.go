package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/backups"
)

// backing runs the scheduled backups of a service. Its Schedule is nil before lockDir and if none are to be made; the
// methods then do nothing.
type backing struct {
	*backups.Schedule
	// Set by startMaking.
	write   func(context.Context, io.Writer) error
	cancel  context.CancelFunc // ends Run, and a backup that is under way
	running sync.WaitGroup     // the goroutine of startMaking
}

// workplace is the directory, in the data directory, where backups for a bucket are made. Its name begins with a dot,
// so that a data directory with nothing else in it counts as empty.
const workplace = ".backup"

// lockDir locks the directory where backups are made: that of --backup-to or, for a bucket, the workplace. A wrong
// directory keeps the service from starting.
func (b *backing) lockDir(ctx context.Context, o Options, log *slog.Logger) error {
	if o.BackupTo == "" {
		return nil
	}
	dir := o.BackupTo
	if backups.InBucket(o.BackupTo) {
		dir = filepath.Join(o.DataDir, workplace)
	}
	store, err := backups.Open(ctx, o.BackupTo)
	if err != nil {
		return fmt.Errorf("--backup-to: %w", err)
	}
	// Write calls what startMaking sets: New itself makes no backup.
	b.Schedule, err = backups.New(ctx, backups.Options{Dir: dir, Store: store, Every: o.BackupEvery, Keep: o.BackupKeep,
		Log: log, Write: func(ctx context.Context, w io.Writer) error { return b.write(ctx, w) }})
	return err
}

// startMaking begins to make backups, in a goroutine that cancel or the end of ctx ends. Each backup is in the audit
// trail.
func (b *backing) startMaking(ctx context.Context, l *adminserver.Local) {
	ctx, b.cancel = context.WithCancel(ctx)
	b.write = l.Backup
	b.running.Go(func() { b.Run(ctx) })
}
