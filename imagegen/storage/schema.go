package storage

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// meta is the bucket that describes the file itself: its format, its schema, an unfinished migration, a move.
const meta kv.Bucket = "storage"

var (
	formatKey = []byte("format")
	format    = []byte("imagegen storage") // so that another program's bbolt file is not taken for ours
	schemaKey = []byte("schema")
	// progressKey holds where an unfinished migration continues; without one the key is absent.
	progressKey = []byte("progress")
)

// migrations bring a database from each schema to the next. The schema of a database is the number of
// migrations that it has been through, so one that was released is never removed or changed. A migration
// that has much to do does a part in each transaction: it begins at from (nil: at the beginning) and
// returns where to continue; nil means that it has finished.
var migrations = []func(t kv.Tx, from []byte) (next []byte, err error){
	func(t kv.Tx, _ []byte) ([]byte, error) { t.Put(meta, formatKey, format); return nil, nil },
	func(t kv.Tx, _ []byte) (next []byte, err error) {
		if tables.IndexEnds(t) {
			next = []byte{1} // it goes on with what is left there
		}
		return next, nil
	},
}

// migrate brings a database to the schema of this version. If it is broken off, the next call continues
// where it was, even if the former version has used the database in between. ErrNewerSchema, ErrCorrupt.
func migrate(bolt *bbolt.DB) error {
	for {
		done, err := migrateOn(bolt)
		if err != nil {
			return fmt.Errorf("%w (in %s)", err, bolt.Path())
		}
		if done {
			return nil
		}
	}
}

// migrateOn runs one transaction of a migration. done reports that the database has the schema of this version.
func migrateOn(bolt *bbolt.DB) (done bool, err error) {
	t, err := bolt.Begin(true)
	if err != nil {
		return false, fmt.Errorf("storage: %v", err)
	}
	defer t.Rollback()
	err = guard(func() error {
		x := &tx{bolt: t}
		schema, err := schemaOf(x)
		if err != nil {
			return err
		}
		if done = schema == len(migrations); done {
			return nil
		}
		if done, err = x.migrate(schema); err == nil {
			err = t.Commit()
		}
		if err != nil {
			return fmt.Errorf("storage: the database could not be brought to schema %d: %w", len(migrations), err)
		}
		return nil
	})
	return done, err
}

// migrate runs migrations from a schema on, until a migration ends its transaction or none is left. It writes
// how far it came in the same transaction.
func (t *tx) migrate(schema int) (done bool, err error) {
	var next []byte
	for from := t.Get(meta, progressKey); next == nil && schema < len(migrations); from = nil {
		if next, err = migrations[schema](t, from); err != nil {
			return false, err
		}
		if next == nil {
			schema++
		}
	}
	if t.Delete(meta, progressKey); next != nil {
		t.Put(meta, progressKey, next)
	}
	t.Put(meta, schemaKey, binary.BigEndian.AppendUint64(nil, uint64(schema)))
	return next == nil, nil
}

// schemaOf returns the schema of a database; 0 for a file that nothing was written to. ErrCorrupt: another
// program wrote the file. ErrNewerSchema.
func schemaOf(t *tx) (int, error) {
	first, _ := t.bolt.Cursor().First()
	if first == nil {
		return 0, nil
	}
	schema := t.Get(meta, schemaKey)
	if string(t.Get(meta, formatKey)) != string(format) || len(schema) != 8 {
		return 0, fmt.Errorf("%w: it is none of this package", ErrCorrupt)
	}
	n := binary.BigEndian.Uint64(schema)
	if n > uint64(len(migrations)) {
		return 0, fmt.Errorf("%w: it has schema %d and this one knows %d; use a newer version", ErrNewerSchema, n,
			len(migrations))
	}
	return int(n), nil
}
