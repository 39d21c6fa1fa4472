// Package table keeps values of one kind in an ordered key-value database: each under its key, and in
// the indexes that are declared for it. A table keeps its indexes and audits them; nobody else writes
// to its buckets.
//
// A table is declared once, at the start of the program, and used in any transaction:
//
//	users := table.New("users", key, form)     // bucket "users": key → encoded value
//	names := users.Index("names", placeByName) // bucket "users.names": place, key → nothing
//
// Callers that replace or remove a value pass it as it was read, so that the former entries of the indexes are found
// without another read.
package table

import (
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Table declares how values of type V are kept. It holds no data. Once it is declared it is safe for concurrent use.
type Table[V any] struct {
	name      kv.Bucket
	key       func(*V) []byte
	indexes   []*Index[V]
	witnessed bool // a digest is kept
	form      func(*kv.Coder, *V)
}

// Deriver is a kv.Tx of a database in whose indexes values stand by themselves. It gives the entries of an index as if
// they had been put there, and keeps no digests.
type Deriver interface {
	kv.Tx
	Derives()
}

// New declares a table. key makes the key of a value: it is not empty, and stays the same as long as the value
// is there. form encodes the value.
func New[V any](name kv.Bucket, key func(*V) []byte, form func(*kv.Coder, *V)) *Table[V] {
	return &Table[V]{name: name, key: key, form: form}
}

// Name is the bucket that has the values.
func (t *Table[V]) Name() kv.Bucket { return t.name }

// Key is the key of a value.
func (t *Table[V]) Key(v *V) []byte { return t.key(v) }

// Encode returns a value as it is stored.
func (t *Table[V]) Encode(v *V) []byte { return kv.Encode(v, t.form) }

// Decode reads a stored value.
func (t *Table[V]) Decode(stored []byte) (v V, err error) {
	err = kv.Decode(stored, &v, t.form)
	return v, err
}

// Take adds a value, as it was stored elsewhere, to a table that has none with its key.
func (t *Table[V]) Take(tx kv.Tx, stored []byte) error {
	v, err := t.Decode(stored)
	if err == nil {
		t.Put(tx, nil, &v)
	}
	return err
}

// Witnessed makes the table keep a digest of all its values, so that an audit finds out if one was lost. It is for
// values that follow from nothing else and are seldom written: each write rewrites the digest.
func (t *Table[V]) Witnessed() *Table[V] {
	t.witnessed = true
	return t
}

// Get reads a value. imagegen.ErrNotFound: there is none. A [kv.Damage]: it cannot be
// read, but the transaction can go on.
func (t *Table[V]) Get(tx kv.Tx, key []byte) (v V, err error) {
	var stored []byte
	if err := kv.Spare(func() error { stored = tx.Get(t.name, key); return nil }); err != nil {
		return v, err
	}
	if stored == nil {
		return v, imagegen.ErrNotFound
	}
	if err := kv.Decode(stored, &v, t.form); err != nil {
		return v, kv.Damage{Err: fmt.Errorf("storage: %s %q cannot be read; run an audit: %w", t.name, key, err)}
	}
	return v, nil
}

// Has reports whether there is a value under a key, even one that cannot be read.
func (t *Table[V]) Has(tx kv.Tx, key []byte) (there bool) {
	tx.Keys(t.name, key, func(found []byte) bool {
		there = string(found) == string(key)
		return false
	})
	return there
}

// All goes over the values in the order of their keys. A damaged one comes as an error, and others follow. The table
// must not be changed meanwhile.
func (t *Table[V]) All(tx kv.Tx) func(yield func(V, error) bool) {
	return func(yield func(V, error) bool) {
		tx.Keys(t.name, nil, func(key []byte) bool { return yield(t.Get(tx, key)) })
	}
}

// Put writes to in place of from, which is the value as it was read and has the same key. from is nil if there
// is no value under that key.
func (t *Table[V]) Put(tx kv.Tx, from, to *V) {
	t.replace(tx, t.key(to), kv.Encode(to, t.form), from, to)
}

// Remove removes a value; v is the value as it was read.
func (t *Table[V]) Remove(tx kv.Tx, v *V) { t.replace(tx, t.key(v), nil, v, nil) }

// replace replaces a value and its entries; stored is nil to remove it. The digest comes before the value, since it
// reads the former one.
func (t *Table[V]) replace(tx kv.Tx, key, stored []byte, from, to *V) {
	if _, itself := tx.(Deriver); !itself {
		for _, i := range t.indexes {
			i.move(tx, key, from, to)
		}
		if t.witnessed {
			t.witness(tx, key, stored)
		}
	}
	if stored == nil {
		tx.Delete(t.name, key)
	} else {
		tx.Put(t.name, key, stored)
	}
}
