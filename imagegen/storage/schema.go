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
)

// migrations bring a database from each schema to the next, in one transaction. The schema of a
// database is how many of them it has been through.
var migrations = []func(kv.Tx){
	func(t kv.Tx) { t.Put(meta, formatKey, format) },
}

// migrate brings a database to the schema of this version. ErrNewerSchema, ErrCorrupt.
func migrate(bolt *bbolt.DB) error {
	t, err := bolt.Begin(true)
	if err != nil {
		return fmt.Errorf("storage: %v", err)
	}
	defer t.Rollback()
	err = guard(func() error {
		x := &tx{bolt: t, values: new(arena)}
		schema, err := schemaOf(x)
		if err != nil || schema == uint64(len(migrations)) {
			return err
		}
		for _, step := range migrations[schema:] {
			step(x)
		}
		x.Put(meta, schemaKey, binary.BigEndian.AppendUint64(nil, uint64(len(migrations))))
		if err := t.Commit(); err != nil {
			return fmt.Errorf("storage: the database could not be brought to schema %d: %v", len(migrations), err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w (in %s)", err, bolt.Path())
	}
	return nil
}

// schemaOf is 0 for a file that nothing has been written to.
func schemaOf(t *tx) (uint64, error) {
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
	return n, nil
}
