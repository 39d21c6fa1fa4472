package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Errors of this package, for errors.Is. Of these, Open returns only the first four.
var (
	// ErrNoDatabase: the directory contains no database, and Open was not allowed to create one there.
	ErrNoDatabase = errors.New("storage: there is no database here")
	// ErrLocked: another process has the directory open.
	ErrLocked = errors.New("storage: the directory is in use by another process")
	// ErrNewerSchema: a newer version of this package wrote the database.
	ErrNewerSchema = errors.New("storage: a newer version wrote this database")
	// ErrCorrupt: the database file is damaged. Open returns it for damage that it finds. Any later call
	// that reads a damaged value also returns it.
	ErrCorrupt = errors.New("storage: the database is damaged")

	// ErrOutcomeUnknown: the disk failed during a commit. Whether the commit took place is known only
	// after the directory was opened again. It is not imagegen.Definite.
	ErrOutcomeUnknown = errors.New("storage: the disk failed under a commit; its outcome is unknown")
	// ErrStopped: the write was refused, because the outcome of a commit is unknown or the DB has been
	// closed.
	ErrStopped = errors.New("storage: no more is written")
	// ErrNotEmpty: the directory to restore into is not empty.
	ErrNotEmpty = errors.New("storage: the directory is not empty")
	// ErrArchive: the input of Restore is not an archive that Backup wrote, is cut short or was altered.
	ErrArchive = errors.New("storage: this is not an intact backup")
)

var (
	errClosed  = fmt.Errorf("%w: it has been closed", ErrStopped)
	errNoSpace = errors.New("storage: no space is left on the disk")
)

// notApplied makes the error of a write that changed nothing: it is definite, and wraps the reason.
func notApplied(why error) error {
	return fmt.Errorf("%w: %w", imagegen.ErrNotApplied, why)
}

// isShortage reports whether an error says that the process, or the machine, lacks file descriptors or
// memory. Such an error says nothing about the file that was to be read.
func isShortage(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// survivable reports whether a failed commit certainly did not take place and left the file as it
// was. That is so only if a write failed for want of space. After any other error, above all a failed
// fsync, neither is certain: the kernel may have marked pages as clean that never reached the disk.
func survivable(err error) bool {
	p, ok := errors.AsType[*fs.PathError](err)
	return ok && p.Op == "write" && kv.IsFull(p)
}
