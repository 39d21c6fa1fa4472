package storage

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"runtime/debug"

	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// tx is a kv.Tx. bbolt checks only its meta pages, so each value carries a checksum of its own. Its methods
// return no errors: they panic with a fault or a kv.Damage, so a tx is used only within guard. It belongs to
// one goroutine.
type tx struct {
	bolt     *bbolt.Tx
	buckets  []*bucket // used so far; they are few, and a search is cheaper than a map
	written  int       // bytes of keys and values put or deleted; 0: nothing has to be committed
	onCommit []func()
}

var _ kv.Tx = (*tx)(nil)

// bucket is a bucket of bbolt's with the checksums of its values.
type bucket struct {
	*bbolt.Bucket
	sums checksums
}

// bucket returns a bucket, or nil if it was never written to.
func (t *tx) bucket(name kv.Bucket) *bucket {
	for _, b := range t.buckets {
		if b.sums.bucket == name {
			return b
		}
	}
	return t.known(name, t.bolt.Bucket([]byte(name)))
}

// known remembers a bucket for the rest of the transaction, so that it is looked up and its name hashed
// only once.
func (t *tx) known(name kv.Bucket, b *bbolt.Bucket) *bucket {
	if b == nil {
		return nil
	}
	known := &bucket{b, checksumsOf(name)}
	t.buckets = append(t.buckets, known)
	return known
}

// writable returns a bucket, and creates it if there is none.
func (t *tx) writable(name kv.Bucket) *bucket {
	if b := t.bucket(name); b != nil {
		return b
	}
	b, err := t.bolt.CreateBucket([]byte(name))
	must(err, name, nil)
	return t.known(name, b)
}

// Get implements kv.Tx. The value is valid only until the transaction ends.
func (t *tx) Get(name kv.Bucket, key []byte) []byte {
	b := t.bucket(name)
	if b == nil {
		return nil
	}
	stored := b.Bucket.Get(key)
	if stored == nil {
		return nil
	}
	return b.sums.value(key, stored)
}

// Put implements kv.Tx. It counts the bytes, which bound a batch of the committer.
func (t *tx) Put(name kv.Bucket, key, value []byte) {
	t.written += len(key) + len(value)
	b := t.writable(name)
	must(b.Put(key, b.sums.stored(key, value)), name, key)
}

// Delete implements kv.Tx. It succeeds if there is no such key.
func (t *tx) Delete(name kv.Bucket, key []byte) {
	b := t.bucket(name)
	if b == nil {
		return
	}
	t.written += len(key)
	must(b.Bucket.Delete(key), name, key)
}

// Ascend implements kv.Tx. f must not write to the bucket.
func (t *tx) Ascend(name kv.Bucket, from []byte, f func(key, value []byte) bool) {
	b := t.bucket(name)
	if b == nil {
		return
	}
	c := b.Cursor()
	for k, v := c.Seek(from); k != nil && f(k, b.sums.value(k, v)); {
		k, v = c.Next()
	}
}

// Keys implements kv.Tx. It does not check the values, so a damaged one stops nobody.
func (t *tx) Keys(name kv.Bucket, from []byte, f func(key []byte) bool) {
	b := t.bucket(name)
	if b == nil {
		return
	}
	c := b.Cursor()
	for k, _ := c.Seek(from); k != nil && f(k); {
		k, _ = c.Next()
	}
}

// Descend implements kv.Tx. f must not write to the bucket.
func (t *tx) Descend(name kv.Bucket, before []byte, f func(key, value []byte) bool) {
	b := t.bucket(name)
	if b == nil {
		return
	}
	c := b.Cursor()
	for k, v := lastBefore(c, before); k != nil && f(k, b.sums.value(k, v)); {
		k, v = c.Prev()
	}
}

// lastBefore moves a cursor to the last key below before; nil: to the last of all.
func lastBefore(c *bbolt.Cursor, before []byte) (key, value []byte) {
	if before == nil {
		return c.Last()
	}
	if k, _ := c.Seek(before); k == nil {
		return c.Last()
	}
	return c.Prev()
}

// OnCommit implements kv.Tx. f runs after the commit is durable, and not at all if it
// fails. It also runs where no operation wrote anything, since there is nothing to commit.
func (t *tx) OnCommit(f func()) { t.onCommit = append(t.onCommit, f) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksums computes the checksums of a bucket's values: CRC-32C over the bucket's name, the key and the value.
// So a sound value in the wrong place does not match either.
type checksums struct {
	bucket kv.Bucket
	begin  uint32 // the checksum of the bucket's name, from which all others go on
}

// checksumsOf returns the checksums of one bucket.
func checksumsOf(bucket kv.Bucket) checksums {
	return checksums{bucket, crc32.Checksum([]byte(bucket), castagnoli)}
}

// sum is the checksum of a value in its place.
func (c checksums) sum(key, value []byte) uint32 {
	return crc32.Update(crc32.Update(c.begin, castagnoli, key), castagnoli, value)
}

// stored is what is stored for a value: the value, then its checksum in four bytes, big-endian.
func (c checksums) stored(key, value []byte) []byte {
	stored := append(make([]byte, 0, len(value)+crc32.Size), value...)
	return binary.BigEndian.AppendUint32(stored, c.sum(key, value))
}

// verify returns the value that was put, without copying it; false if it does not match its checksum.
func (c checksums) verify(key, stored []byte) (value []byte, ok bool) {
	n := len(stored) - crc32.Size
	if n < 0 || binary.BigEndian.Uint32(stored[n:]) != c.sum(key, stored[:n]) {
		return nil, false
	}
	return stored[:n:n], true
}

// value is check that panics with a kv.Damage.
func (c checksums) value(key, stored []byte) []byte {
	value, ok := c.verify(key, stored)
	if !ok {
		panic(kv.Damage{Err: fmt.Errorf("%w: %s %q does not match its checksum; run an audit and restore a backup",
			ErrCorrupt, c.bucket, key)})
	}
	return value
}

// fault is what the methods of tx panic with if bbolt refuses a write. guard turns it into an error.
type fault struct{ error }

// must panics with a fault if a write failed.
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

// guard turns a panic of f into an error: a fault or a kv.Damage into the error that it carries, and any other
// panic into a panicError with its stack. It also catches the memory fault that a page of the mapped file
// causes when the disk does not return it, which would otherwise end the process. That works only for
// the goroutine that guard runs on.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case fault:
			err = p.error
		case kv.Damage:
			err = p.Err
		case interface{ Addr() uintptr }:
			err = fmt.Errorf("%w: a page of the file cannot be read: %v", ErrCorrupt, p)
		default:
			err = &panicError{p, debug.Stack()}
		}
	}()
	return f()
}
