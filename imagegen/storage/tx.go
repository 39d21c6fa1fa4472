package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"runtime/debug"

	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// tx is a kv.Tx. bbolt checks only its meta pages, so each value carries a checksum of its own.
type tx struct {
	bolt     *bbolt.Tx
	buckets  []*bucket // that were asked for; few, so that they need no map
	values   *arena    // of the one writer
	written  int       // bytes of keys and values put or deleted
	onCommit []func()
}

var _ kv.Tx = (*tx)(nil)

// fault is what the methods of tx panic with: they return no error. guard turns it into one.
type fault struct{ error }

// bucket is a bucket of bbolt's with the beginning of what its values are sealed with. Its own Get
// would make a new cursor each time.
type bucket struct {
	*bbolt.Bucket
	cursor bbolt.Cursor
	label  label
}

func (b *bucket) get(key []byte) []byte {
	k, v := b.cursor.Seek(key)
	if !bytes.Equal(k, key) {
		return nil
	}
	return v
}

// bucket returns nil if there is none.
func (t *tx) bucket(name kv.Bucket) *bucket {
	for _, b := range t.buckets {
		if b.label.name == name {
			return b
		}
	}
	return t.known(name, t.bolt.Bucket([]byte(name)))
}

func (t *tx) known(name kv.Bucket, b *bbolt.Bucket) *bucket {
	if b == nil {
		return nil
	}
	known := &bucket{b, *b.Cursor(), labelOf(name)}
	t.buckets = append(t.buckets, known)
	return known
}

func (t *tx) writable(name kv.Bucket) *bucket {
	if b := t.bucket(name); b != nil {
		return b
	}
	b, err := t.bolt.CreateBucket([]byte(name))
	must(err, name, nil)
	return t.known(name, b)
}

func (t *tx) Get(name kv.Bucket, key []byte) []byte {
	b := t.bucket(name)
	if b == nil {
		return nil
	}
	stored := b.get(key)
	if stored == nil {
		return nil
	}
	return b.label.verified(key, stored)
}

func (t *tx) Put(name kv.Bucket, key, value []byte) {
	t.written += len(key) + len(value)
	b := t.writable(name)
	must(b.Put(key, b.label.sealed(t.values.next(len(value)+sealLength), key, value)), name, key)
}

func (t *tx) Delete(name kv.Bucket, key []byte) {
	b := t.bucket(name)
	if b == nil {
		return
	}
	t.written += len(key)
	must(b.Bucket.Delete(key), name, key)
}

func (t *tx) Ascend(name kv.Bucket, from []byte, f func(key, value []byte) bool) {
	b := t.bucket(name)
	if b == nil {
		return
	}
	c := b.Cursor()
	for k, v := c.Seek(from); k != nil && f(k, b.label.verified(k, v)); {
		k, v = c.Next()
	}
}

func (t *tx) Descend(name kv.Bucket, before []byte, f func(key, value []byte) bool) {
	b := t.bucket(name)
	if b == nil {
		return
	}
	c := b.Cursor()
	for k, v := lastBefore(c, before); k != nil && f(k, b.label.verified(k, v)); {
		k, v = c.Prev()
	}
}

func lastBefore(c *bbolt.Cursor, before []byte) (key, value []byte) {
	if before == nil {
		return c.Last()
	}
	if k, _ := c.Seek(before); k == nil {
		return c.Last()
	}
	return c.Prev()
}

func (t *tx) OnCommit(f func()) { t.onCommit = append(t.onCommit, f) }

const sealLength = crc32.Size

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// label stands for a bucket in the seals of its values: over the place of a value too, so that one
// that lies elsewhere is noticed.
type label struct {
	name kv.Bucket
	sum  uint32
}

func labelOf(name kv.Bucket) label { return label{name, crc32.Checksum([]byte(name), castagnoli)} }

func (l label) seal(key, value []byte) uint32 {
	return crc32.Update(crc32.Update(l.sum, castagnoli, key), castagnoli, value)
}

// sealed appends to stored what is stored for a value.
func (l label) sealed(stored, key, value []byte) []byte {
	return binary.BigEndian.AppendUint32(append(stored, value...), l.seal(key, value))
}

// arena is memory for the values of one transaction, used again by the next: bbolt keeps none of
// them when a transaction has ended.
type arena struct{ chunk, rest []byte }

const arenaChunk = 128 << 10

func (a *arena) reset() { a.rest = a.chunk }

// next returns an empty slice that has room for n bytes.
func (a *arena) next(n int) []byte {
	if n > len(a.rest) {
		a.chunk = make([]byte, max(n, arenaChunk))
		a.rest = a.chunk
	}
	free := a.rest[:0:n]
	a.rest = a.rest[n:]
	return free
}

// intact returns what was put; false if it is not what is stored.
func (l label) intact(key, stored []byte) (value []byte, ok bool) {
	n := len(stored) - sealLength
	if n < 0 || binary.BigEndian.Uint32(stored[n:]) != l.seal(key, stored[:n]) {
		return nil, false
	}
	return stored[:n:n], true
}

func (l label) verified(key, stored []byte) []byte {
	value, ok := l.intact(key, stored)
	if !ok {
		panic(fault{fmt.Errorf("%w: %s %q does not match its checksum; run an audit and restore a backup", ErrCorrupt, l.name, key)})
	}
	return value
}

func must(err error, name kv.Bucket, key []byte) {
	if err != nil {
		panic(fault{fmt.Errorf("storage: %s %q cannot be written: %v", name, key, err)})
	}
}

// panicError is a bug, of an operation or in bbolt. The stack is for the log.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("storage: panic in a transaction: %v", e.value)
}

// guard turns a panic of f into an error, also one from a page of the mapped file that the disk
// does not give back.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case fault:
			err = p.error
		case interface{ Addr() uintptr }:
			err = fmt.Errorf("%w: a page of the file cannot be read: %v", ErrCorrupt, p)
		default:
			err = &panicError{p, debug.Stack()}
		}
	}()
	return f()
}
