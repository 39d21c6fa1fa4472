package storage

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// noteLostAnswers has the answers of the last moments of a process that was killed count as received by
// nobody: it could not write down which were. Where that fails, a caller who repeats a call pays twice.
func (db *DB) noteLostAnswers(ctx context.Context) {
	killed, err := db.noteRunning()
	if err == nil && killed {
		err = db.tables.Killed(ctx)
	}
	db.running = err == nil
	if err != nil {
		db.log.Warn("answers that a process could not give before it was killed are not found by a repeated call", "error", err)
	}
}

// noteRunning leaves a file that is there as long as the directory is open, and reports whether it was
// there already.
func (db *DB) noteRunning() (killed bool, err error) {
	f, err := db.root.OpenFile(runningName, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, f.Close()
}

// noteStopped ends that. After a fault nobody knows what was written down, and an opening that failed has
// taken up nothing.
func (db *DB) noteStopped() {
	if db.Err() != nil || !db.running {
		return
	}
	if err := db.root.Remove(runningName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		db.log.Warn("the next start will take this process for one that was killed", "error", err)
	}
}
