package storage

import (
	"bufio"
	"context"
	"encoding/gob"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// KV is the database beneath the tables.
func (db *DB) KV() kv.DB { return db.file }

// KeepNothing has each request read its user and key.
func (db *DB) KeepNothing() { db.tables.KeepFor(-1) }

// SetCommit has commit stand in for the commits, before there are any; real is the true one.
func (db *DB) SetCommit(commit func(real func() error) error) {
	db.file.commit = func(t *bbolt.Tx) error { return commit(t.Commit) }
}

// CloseFile closes the file beneath the database.
func (db *DB) CloseFile() error { return db.file.bolt.Close() }

// Bolt is the file beneath the database.
func (db *DB) Bolt() *bbolt.DB { return db.file.bolt }

// OtherFiles is another handle to the images and the spool of a directory.
func (db *DB) OtherFiles() (imagegen.ImageStore, imagegen.Spool, error) {
	f := newFiles(db.dir, db.root, db.file.stopped)
	images, err := newImages(f)
	return images, &spool{files: f, space: db.space}, err
}

// SetFlush has flush stand in for the flush of directories; real is the true one.
func (db *DB) SetFlush(flush func(dir string, real func() error) error) {
	db.spool.files.flush = func(dir *os.File) error {
		return flush(filepath.Base(dir.Name()), func() error { return syncOpenDir(dir) })
	}
}

// SetFree has the disk appear to have so many bytes free, at once.
func (db *DB) SetFree(bytes int64) {
	db.space.mu.Lock()
	defer db.space.mu.Unlock()
	db.space.free = func(string) (int64, error) { return bytes, nil }
	db.space.at = time.Time{}
}

// NoteSleep has the storage find that the machine slept.
func (db *DB) NoteSleep(d time.Duration) { db.noteSleep(d) }

// Stored makes the stored form of a value.
func Stored(b kv.Bucket, key, value []byte) []byte { return checksumsOf(b).stored(key, value) }

// Schema is the schema of this version.
func Schema() int { return len(migrations) }

// Migrate has databases that are opened from now on go through one more migration, and undoes it.
func Migrate(f func(kv.Tx) error) (undo func()) {
	former := migrations
	migrations = append(slices.Clone(former), f)
	return func() { migrations = former }
}

// BeginAudit takes the snapshot of an audit; finish reads the images that it names.
func (db *DB) BeginAudit(ctx context.Context) (finish func() (imagegen.AuditReport, error), err error) {
	a, err := db.beginAudit(ctx)
	if err != nil {
		return nil, err
	}
	return a.finish, nil
}

// ViewCopy calls look while a copy of the database is looked at, as an audit does.
func (db *DB) ViewCopy(ctx context.Context, look func()) error {
	return db.viewCopy(ctx, func(*bbolt.Tx) error { look(); return nil })
}

// ReserveAddresses has databases that are opened from now on reserve so many bytes to grow into, and
// undoes it.
func ReserveAddresses(bytes int64) (undo func()) {
	former := mapReserve
	mapReserve = bytes
	return func() { mapReserve = former }
}

// LinkForBackup has a backup link the reference images that it needs, and reports whether removals from the spool
// waited each time that one was linked, and whether they wait afterwards.
func (db *DB) LinkForBackup(ctx context.Context) (during []bool, after bool, err error) {
	uploads, err := db.spool.newUploads()
	if err != nil {
		return nil, false, err
	}
	defer uploads.discard()
	wait := func() bool {
		free := db.spool.removing.TryRLock()
		if free {
			db.spool.removing.RUnlock()
		}
		return !free
	}
	out := bufio.NewWriterSize(observed(func() { during = append(during, wait()) }), 1)
	files := &inventory{out: out, enc: gob.NewEncoder(out)}
	s, err := (&backup{ctx: ctx, db: db, uploads: uploads}).copyDatabase(files)
	if err != nil {
		return nil, false, err
	}
	s.discard()
	return during, wait(), nil
}

// observed is called with each write.
type observed func()

func (o observed) Write(p []byte) (int, error) { o(); return len(p), nil }

// Images lists the images and thumbnails that are stored.
func (db *DB) Images() (all []imagegen.ImageKey) {
	_ = fs.WalkDir(db.root.FS(), imagesDir, func(file string, d fs.DirEntry, err error) error {
		if k, ok := imageKeyOf(path.Base(file)); ok {
			all = append(all, k)
		}
		return err
	})
	return all
}

// References lists what lies in the spool.
func (db *DB) References() (all []imagegen.ReferenceID) {
	files, _ := fs.ReadDir(db.root.FS(), spoolDir)
	for _, f := range files {
		all = append(all, imagegen.ReferenceID(f.Name()))
	}
	return all
}
