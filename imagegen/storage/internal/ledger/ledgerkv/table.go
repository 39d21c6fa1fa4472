package ledgerkv

import (
	"fmt"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// table is rows of one kind in a bucket, and the indexes over them.
type table[Row any] struct {
	bucket  kv.Bucket
	form    func(*kv.Coder, *Row)
	indexes []index[Row]
}

// index has a key for each row that belongs into it; nil: the row does not. moves is whether two states
// of a row have different keys.
type index[Row any] struct {
	bucket kv.Bucket
	key    func(*Row) []byte
	moves  func(from, to *Row) bool
}

func damaged(b kv.Bucket, key []byte) kv.Damage {
	return kv.Damage{Err: fmt.Errorf("ledger: %s %q names what is not there; run an audit", b, key)}
}

func (t table[Row]) decode(stored []byte) (row Row) {
	if err := kv.Decode(stored, &row, t.form); err != nil {
		panic(kv.Damage{Err: fmt.Errorf("ledger: a row of %s cannot be read; run an audit: %w", t.bucket, err)})
	}
	return row
}

func (t table[Row]) encode(row *Row) []byte {
	return kv.Encode(row, t.form)
}

func (t table[Row]) get(tx kv.Tx, key []byte) (row Row, known bool) {
	stored := tx.Get(t.bucket, key)
	if stored == nil {
		return row, false
	}
	return t.decode(stored), true
}

// put writes a row, which was from before, and follows it in the indexes.
func (t table[Row]) put(tx kv.Tx, key []byte, from, to *Row) {
	tx.Put(t.bucket, key, t.encode(to))
	for _, i := range t.indexes {
		if !i.moves(from, to) {
			continue
		}
		if key := i.key(from); key != nil {
			tx.Delete(i.bucket, key)
		}
		if key := i.key(to); key != nil {
			tx.Put(i.bucket, key, only)
		}
	}
}
