package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/backups"
)

// backing makes backups while the service runs. Its Schedule is nil where none are to be made.
type backing struct {
	*backups.Schedule
	write  func(context.Context, io.Writer) error
	cancel context.CancelFunc
	ended  chan struct{}
}

// workplace is where a data directory holds backups on their way to a bucket. It is hidden, so that a directory that
// holds nothing else is empty.
const workplace = ".backup"

// openBackups takes the directory for backups, or the one where those for a bucket are made, if there are to be any.
func openBackups(ctx context.Context, o Options, log *slog.Logger) (*backing, error) {
	b := &backing{cancel: func() {}, ended: make(chan struct{})}
	if o.BackupTo == "" {
		close(b.ended)
		return b, nil
	}
	dir := o.BackupTo
	if backups.InBucket(o.BackupTo) {
		dir = filepath.Join(o.DataDir, workplace)
	} else if inside(o.BackupTo, o.DataDir) {
		return nil, fmt.Errorf("%s lies in the data directory; backups belong elsewhere, best on another disk: name it with --backup-to", o.BackupTo)
	}
	store, err := backups.Open(ctx, o.BackupTo)
	if err != nil {
		return nil, fmt.Errorf("--backup-to: %w", err)
	}
	b.Schedule, err = backups.New(ctx, backups.Options{Dir: dir, Store: store, Every: o.BackupEvery, Keep: o.BackupKeep, Log: log,
		Write: func(ctx context.Context, w io.Writer) error { return b.write(ctx, w) }})
	return b, err
}

// inside reports whether a path lies in a directory, or is it. Links are followed as far as there is something.
func inside(path, dir string) bool {
	relative, err := filepath.Rel(real(dir), real(path))
	return err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator))
}

func real(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if followed, err := filepath.EvalSymlinks(path); err == nil {
		return followed
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(real(parent), filepath.Base(path))
}

// start makes backups from now on, each of which stands in the audit trail, until cancel.
func (b *backing) start(ctx context.Context, l *admin.Local) {
	if b.Schedule == nil {
		return
	}
	ctx, b.cancel = context.WithCancel(ctx)
	b.write = l.Backup
	go func() {
		defer close(b.ended)
		b.Run(ctx)
	}()
}

// wait returns when no backup is under way any more.
func (b *backing) wait() { <-b.ended }
