package storage

import (
	"bytes"

	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// tx is a kv.Tx. bbolt checks only its meta pages, so each value carries a checksum of its own.
type tx struct {
	bolt     *bbolt.Tx
	buckets  []*bucket // that were asked for; few, so that they need no map
	written  int       // bytes of keys and values put or deleted
	onCommit []func()
}

var _ kv.Tx = (*tx)(nil)

// bucket is a bucket of bbolt's with the checksums of its values. Its own Get
// would make a new cursor each time.
type bucket struct {
	*bbolt.Bucket
	cursor bbolt.Cursor
	sums   checksums
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
		if b.sums.bucket == name {
			return b
		}
	}
	return t.known(name, t.bolt.Bucket([]byte(name)))
}

func (t *tx) known(name kv.Bucket, b *bbolt.Bucket) *bucket {
	if b == nil {
		return nil
	}
	known := &bucket{b, *b.Cursor(), checksumsOf(name)}
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
	return b.sums.value(key, stored)
}

func (t *tx) Put(name kv.Bucket, key, value []byte) {
	t.written += len(key) + len(value)
	b := t.writable(name)
	must(b.Put(key, b.sums.stored(key, value)), name, key)
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
	for k, v := c.Seek(from); k != nil && f(k, b.sums.value(k, v)); {
		k, v = c.Next()
	}
}

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
