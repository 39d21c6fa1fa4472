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
	// ErrNoDatabase: the directory holds no database, and none was to be made.
	ErrNoDatabase = errors.New("storage: there is no database here")
	// ErrLocked: another process has the directory open.
	ErrLocked = errors.New("storage: the directory is in use by another process")
	// ErrNewerSchema: a newer version of this package wrote the database.
	ErrNewerSchema = errors.New("storage: a newer version wrote this database")
	// ErrCorrupt: the database file is damaged. It is also returned by the call that meets the damage.
	ErrCorrupt = errors.New("storage: the database is damaged")

	// ErrOutcomeUnknown: the disk failed under a commit. Whether it took place shows only when the
	// directory is opened again.
	ErrOutcomeUnknown = errors.New("storage: the disk failed under a commit; its outcome is unknown")
	// ErrStopped: nothing more is written, because the outcome of a commit is unknown or the
	// storage has been closed.
	ErrStopped = errors.New("storage: no more is written")
	// ErrNotEmpty: the directory to restore into holds something.
	ErrNotEmpty = errors.New("storage: the directory is not empty")
	// ErrArchive: what was to be restored is no archive of Backup, is cut short or was altered.
	ErrArchive = errors.New("storage: this is no intact backup")
)

var (
	errClosed  = fmt.Errorf("%w: it has been closed", ErrStopped)
	errNoSpace = errors.New("storage: no space is left on the disk")
)

// notApplied says of a write that it changed nothing, and why.
func notApplied(why error) error {
	return fmt.Errorf("%w: %w", imagegen.ErrNotApplied, why)
}

// isFull reports whether an error says that the disk, or the quota, is full.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// isShortage reports whether an error says that the process, or the machine, has too little of something
// to do what it was to do: nothing follows for what it was to be done to.
func isShortage(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// survivable reports whether a failed commit certainly did not take place and left the file as it
// was: only when there was no space for a write. Of everything else, and above all of a failed
// fsync, neither is certain.
func survivable(err error) bool {
	p, ok := errors.AsType[*fs.PathError](err)
	return ok && p.Op == "write" && isFull(p)
}
