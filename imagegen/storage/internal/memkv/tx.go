package memkv

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// tx is a transaction. It writes in place, and undo tells how to take that back.
type tx struct {
	db       *DB
	writable bool
	undo     []change
	onCommit []func()
}

// change is what a key had before; nil if it was not there.
type change struct {
	bucket      kv.Bucket
	key, before []byte
}

var _ kv.Tx = (*tx)(nil)

func (t *tx) run(f func(kv.Tx) error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case kv.Damage:
			err = p.Err
		default:
			err = fmt.Errorf("memkv: panic in a transaction: %v\n%s", p, debug.Stack())
		}
	}()
	return f(t)
}

func (t *tx) rollBack() {
	for _, c := range slices.Backward(t.undo) {
		if b := t.db.buckets[c.bucket]; c.before == nil {
			b.remove(c.key)
		} else {
			b.put(pair{c.key, c.before})
		}
	}
}

// bucket returns a bucket to read.
func (t *tx) bucket(name kv.Bucket) *bucket {
	if b := t.db.buckets[name]; b != nil {
		return b
	}
	return &bucket{}
}

// change returns a bucket to write.
func (t *tx) change(name kv.Bucket) *bucket {
	if !t.writable {
		panic("memkv: a write in a View")
	}
	if t.db.buckets[name] == nil {
		t.db.buckets[name] = &bucket{}
	}
	return t.db.buckets[name]
}

func (t *tx) Get(name kv.Bucket, key []byte) []byte { return t.bucket(name).get(key) }

func (t *tx) Put(name kv.Bucket, key, value []byte) {
	p := pair{bytes.Clone(key), bytes.Clone(value)}
	t.undo = append(t.undo, change{name, p.key, t.change(name).put(p)})
}

func (t *tx) Delete(name kv.Bucket, key []byte) {
	if before := t.change(name).remove(key); before != nil {
		t.undo = append(t.undo, change{name, bytes.Clone(key), before})
	}
}

func (t *tx) Ascend(name kv.Bucket, from []byte, f func(key, value []byte) bool) {
	t.bucket(name).ascend(from, f)
}

func (t *tx) Keys(name kv.Bucket, from []byte, f func(key []byte) bool) {
	t.bucket(name).ascend(from, func(key, _ []byte) bool { return f(key) })
}

func (t *tx) Descend(name kv.Bucket, before []byte, f func(key, value []byte) bool) {
	t.bucket(name).descend(before, f)
}

func (t *tx) OnCommit(f func()) { t.onCommit = append(t.onCommit, f) }
