package storage

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

const meta kv.Bucket = "storage"

var (
	formatKey = []byte("format")
	format    = []byte("imagegen storage") // so that another program's bbolt file is not taken for ours
	schemaKey = []byte("schema")
	// progressKey holds where a migration that is not at its end goes on.
	progressKey = []byte("progress")
)

// migrations bring a database from each schema to the next. The schema of a database is how many of
// them it has been through. One that has much to do does a part in each transaction, beginning at
// from, and returns where to go on; nil: it has done all.
var migrations = []func(t kv.Tx, from []byte) (next []byte, err error){
	func(t kv.Tx, _ []byte) ([]byte, error) { t.Put(meta, formatKey, format); return nil, nil },
}

// migrate brings a database to the schema of this version. If it is broken off, it goes on where it
// was, also when the version before has been at work meanwhile. ErrNewerSchema, ErrCorrupt.
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

// migrateOn is one transaction on the way.
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

// migrate does what is left from a schema on, or as much as one transaction should hold.
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

// schemaOf is 0 for a file that nothing has been written to.
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
		return 0, fmt.Errorf("%w: it has schema %d and this one knows %d; use a newer version", ErrNewerSchema, n, len(migrations))
	}
	return int(n), nil
}
