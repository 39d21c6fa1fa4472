// Package storage keeps everything in one directory: a bbolt file and image files.
package storage

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Options change how a directory is opened. The zero value of each field is its default.
type Options struct {
	MustExist bool             // refuse to create: the directory must hold a database already
	MinFree   int64            // bytes that stay free on the disk: below, new work is refused; 0: 64 MiB
	Now       func() time.Time // nil: time.Now
	Log       *slog.Logger     // nil: silent
}

// Errors of this package, for errors.Is.
var (
	ErrLocked         = errors.New("storage: the directory is in use by another process")
	ErrNotFound       = errors.New("storage: there is no database")
	ErrNewerSchema    = errors.New("storage: the database was written by a newer version")
	ErrCorrupt        = errors.New("storage: the database is damaged")
	ErrStopped        = errors.New("storage: stopped by a disk fault")
	ErrOutcomeUnknown = errors.New("storage: the disk failed under a commit, its outcome is unknown")
)

// DB is an open directory.
type DB struct {
	imagegen.JointStore
	imagegen.Bookkeeper
	imagegen.ImageStore
	imagegen.Spool
	failed chan struct{}
}

// Open opens a directory.
func Open(dir string, o *Options) (*DB, error) { return &DB{failed: make(chan struct{})}, nil }

// Close closes it.
func (db *DB) Close() error { return nil }

// Failed is closed when the disk failed under a commit.
func (db *DB) Failed() <-chan struct{} { return db.failed }

// Err returns why.
func (db *DB) Err() error { return nil }

// Ready implements [imagegen.Readier].
func (db *DB) Ready(ctx context.Context) error { return nil }

// Audit implements [imagegen.Auditor].
func (db *DB) Audit(ctx context.Context) (imagegen.AuditReport, error) {
	return imagegen.AuditReport{}, nil
}

// Backup writes an archive.
func (db *DB) Backup(ctx context.Context, w io.Writer) error { return nil }

// Restore reads an archive.
func Restore(ctx context.Context, r io.Reader, dir string) error { return nil }

// ClockInDoubt reports a forward jump.
func (db *DB) ClockInDoubt() (jump time.Duration, doubt bool) { return 0, false }

// ConfirmClock accepts it.
func (db *DB) ConfirmClock(ctx context.Context) error { return nil }

var (
	_ imagegen.JointStore = (*DB)(nil)
	_ imagegen.Bookkeeper = (*DB)(nil)
	_ imagegen.ImageStore = (*DB)(nil)
	_ imagegen.Spool      = (*DB)(nil)
)
