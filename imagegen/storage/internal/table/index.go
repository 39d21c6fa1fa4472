package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Index finds the values of a table by something other than their keys. Its entries have all information in
// their own keys, so that a damaged entry stops nobody.
type Index[V any] struct {
	name  kv.Bucket
	table *Table[V]
	under func(*V) []byte
	while func(*V) bool // nil: as under says
}

// Index declares an index. under says at which place a value stands in it: nil means nowhere, and an empty place is
// one. Values at the same place are in the order of their keys. Look-ups go by the beginning of a place, so a
// place must not be the beginning of a different one, which the parts that kv.Key ends or makes equally long ensure.
func (t *Table[V]) Index(name string, under func(*V) []byte) *Index[V] {
	i := &Index[V]{name: t.name + "." + kv.Bucket(name), table: t, under: under}
	t.indexes = append(t.indexes, i)
	return i
}

// Entry is the entry of a value that stands in the index.
func (i *Index[V]) Entry(v *V) []byte { return entryKey(i.under(v), i.table.key(v)) }

// Name is the bucket that has the entries.
func (i *Index[V]) Name() kv.Bucket { return i.name }

// While declares that a value stands in the index exactly as long as stands says so, and that its place does not
// change in that time. This spares most writes the computation of two places.
func (i *Index[V]) While(stands func(*V) bool) *Index[V] {
	i.while = stands
	return i
}

// An entry's key is the place, then the value's key, then the length of that key in two bytes, big-endian. The length
// comes last so that entries sort by place and key.

func entryKey(under, key []byte) []byte {
	e := append(make([]byte, 0, len(under)+len(key)+2), under...)
	return binary.BigEndian.AppendUint16(append(e, key...), uint16(len(key)))
}

// Entry is one entry of an index.
type Entry struct {
	Under []byte // where the value stands
	Key   []byte // of the value
}

// parse splits an entry's key, without copying it. It returns the zero Entry for a key that is not an entry's.
func parse(entry []byte) (e Entry) {
	n := len(entry) - 2
	if n < 0 {
		return e
	}
	n -= int(binary.BigEndian.Uint16(entry[n:]))
	if n < 0 {
		return e
	}
	return Entry{entry[:n:n], entry[n : len(entry)-2 : len(entry)-2]}
}

var present = []byte{1}

// place is where a value stands; nil: nowhere.
func (i *Index[V]) place(v *V) []byte {
	if v == nil || i.while != nil && !i.while(v) {
		return nil
	}
	return i.under(v)
}

// move follows a value that is replaced.
func (i *Index[V]) move(tx kv.Tx, key []byte, from, to *V) {
	if i.while != nil && from != nil && to != nil && i.while(from) == i.while(to) {
		return
	}
	before, after := i.place(from), i.place(to)
	if bytes.Equal(before, after) && (before == nil) == (after == nil) {
		return
	}
	if before != nil {
		tx.Delete(i.name, entryKey(before, key))
	}
	if after != nil {
		tx.Put(i.name, entryKey(after, key), present)
	}
}

// Entries goes over the entries from the first at or behind a place. The index must not be changed meanwhile.
func (i *Index[V]) Entries(tx kv.Tx, from []byte) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		tx.Keys(i.name, from, func(key []byte) bool { return yield(parse(key)) })
	}
}

// Keys goes over the keys of the values at places that begin with under, in ascending order. The index must not
// be changed meanwhile.
func (i *Index[V]) Keys(tx kv.Tx, under []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		tx.Keys(i.name, under, func(key []byte) bool { return bytes.HasPrefix(key, under) && yield(parse(key).Key) })
	}
}

// Down goes over the keys of the values at a place, in descending order, from the last key below before; nil: from
// the last of all. The index must not be changed meanwhile.
func (i *Index[V]) Down(tx kv.Tx, under, before []byte) iter.Seq[[]byte] {
	from := slices.Concat(under, before)
	if before == nil {
		from = append(from, bytes.Repeat([]byte{0xff}, 64)...)
	}
	return func(yield func([]byte) bool) {
		tx.Descend(i.name, from, func(key, _ []byte) bool {
			return bytes.HasPrefix(key, under) && yield(parse(key).Key)
		})
	}
}

// First returns the key of the first value at a place; nil: there is none.
func (i *Index[V]) First(tx kv.Tx, under []byte) []byte {
	for key := range i.Keys(tx, under) {
		return key
	}
	return nil
}

// Get reads a value that the index names. If the value does not exist the index is damaged: that is never
// imagegen.ErrNotFound, which callers would take for an answer.
func (i *Index[V]) Get(tx kv.Tx, key []byte) (V, error) {
	v, err := i.table.Get(tx, key)
	if errors.Is(err, imagegen.ErrNotFound) {
		err = fmt.Errorf("storage: %s names %q, which is not there; run an audit", i.name, key)
	}
	return v, err
}

// Find reads the first value at a place. imagegen.ErrNotFound: there is none.
func (i *Index[V]) Find(tx kv.Tx, under []byte) (v V, err error) {
	key := i.First(tx, under)
	if key == nil {
		return v, imagegen.ErrNotFound
	}
	return i.Get(tx, key)
}

// PutNew adds a value to the table of which no other may have the same key or the same place in this index. added is
// false if the value is there already. imagegen.ErrExists: another value has its key or its place.
func (i *Index[V]) PutNew(tx kv.Tx, v *V) (added bool, err error) {
	key := i.table.key(v)
	former := i.First(tx, i.place(v))
	switch {
	case bytes.Equal(former, key):
		return false, nil
	case former != nil || i.table.Has(tx, key):
		return false, imagegen.ErrExists
	}
	i.table.Put(tx, nil, v)
	return true, nil
}

// Values reads the values that the index names under keys. If one cannot be read, it returns only the error.
func (i *Index[V]) Values(tx kv.Tx, keys iter.Seq[[]byte]) (all []V, err error) {
	for key := range keys {
		v, err := i.Get(tx, key)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}
