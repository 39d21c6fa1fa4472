package storage

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// meta is the bucket that describes the file itself: its format, its schema, a move.
const meta kv.Bucket = "storage"

var (
	formatKey = []byte("format")
	format    = []byte("imagegen storage") // so that another program's bbolt file is not taken for ours
	schemaKey = []byte("schema")
)

// migrations bring a database from each schema to the next. The schema of a database is the number of
// migrations that it has been through, so one that was released is never removed or changed.
var migrations = []func(kv.Tx) error{
	func(t kv.Tx) error { t.Put(meta, formatKey, format); return nil },
}

// migrate brings a database to the schema of this version, in one transaction. ErrNewerSchema, ErrCorrupt.
func migrate(bolt *bbolt.DB) error {
	t, err := bolt.Begin(true)
	if err != nil {
		return fmt.Errorf("storage: %v (in %s)", err, bolt.Path())
	}
	defer t.Rollback()
	err = guard(func() error {
		x := &tx{bolt: t}
		schema, err := schemaOf(x)
		if err != nil || schema == len(migrations) {
			return err
		}
		for ; err == nil && schema < len(migrations); schema++ {
			err = migrations[schema](x)
		}
		if err == nil {
			x.Put(meta, schemaKey, binary.BigEndian.AppendUint64(nil, uint64(schema)))
			err = t.Commit()
		}
		if err != nil {
			return fmt.Errorf("storage: the database could not be brought to schema %d: %w", len(migrations), err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w (in %s)", err, bolt.Path())
	}
	return nil
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
