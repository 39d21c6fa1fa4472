package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/imagegend/imagegend/imagegen"
)

// Errors of this package, for errors.Is. Open returns the first four.
var (
	// ErrNoDatabase: the directory holds no database, and Open was not allowed to make one in it.
	ErrNoDatabase = errors.New("storage: there is no database here")
	// ErrLocked: another process has the directory open.
	ErrLocked = errors.New("storage: the directory is in use by another process")
	// ErrNewerSchema: a newer version of this package wrote the database.
	ErrNewerSchema = errors.New("storage: a newer version wrote this database")
	// ErrCorrupt: the database file is damaged. Open returns it for damage that it finds, and later any call
	// that reads a damaged value.
	ErrCorrupt = errors.New("storage: the database is damaged")

	// ErrOutcomeUnknown: the disk failed during a commit. Only when the directory is opened again does
	// it show whether the commit took place. imagegen.Definite does not hold for it.
	ErrOutcomeUnknown = errors.New("storage: the disk failed under a commit; its outcome is unknown")
	// ErrStopped: nothing more is written, because the outcome of a commit is unknown or the
	// storage has been closed.
	ErrStopped = errors.New("storage: no more is written")
	// ErrNotEmpty: the directory to restore into holds something.
	ErrNotEmpty = errors.New("storage: the directory is not empty")
	// ErrArchive: what Restore was given is not an archive that Backup wrote, is cut short or was altered.
	ErrArchive = errors.New("storage: this is no intact backup")
)

var (
	errClosed  = fmt.Errorf("%w: it has been closed", ErrStopped)
	errNoSpace = errors.New("storage: no space is left on the disk")
)

// notApplied makes the error of a write that changed nothing: it is definite, and wraps the reason.
func notApplied(why error) error {
	return fmt.Errorf("%w: %w", imagegen.ErrNotApplied, why)
}

// isFull reports whether an error says that the disk, or the quota, is full.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
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
	return ok && p.Op == "write" && isFull(p)
}
