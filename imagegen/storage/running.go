package storage

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// noteLostAnswers marks the answers of a killed process's last moments as received by nobody, since that
// process could not record which of them were. So a caller who repeats such a call joins the first one
// instead of being charged again. If this fails, that caller pays twice, but the start goes on.
func (db *DB) noteLostAnswers(ctx context.Context) {
	killed, err := db.noteRunning()
	if err == nil && killed {
		err = db.tables.Killed(ctx)
	}
	db.running = err == nil
	if err != nil {
		db.log.Warn("a repeated call will not find an answer that the killed process did not deliver, and is charged again", "error", err)
	}
}

// noteRunning creates the file that exists as long as the directory is open. It reports whether the
// file existed already, which means that the previous process was killed.
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

// noteStopped removes that file. It leaves it after a fault, since nobody knows what was written, and where
// the start failed before it had marked the lost answers: then the next start has to do so.
func (db *DB) noteStopped() {
	if db.Err() != nil || !db.running {
		return
	}
	if err := db.root.Remove(runningName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		db.log.Warn("the next start will take this process for one that was killed", "error", err)
	}
}
