package table

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

const digests kv.Bucket = "digests" // table → how many values it has, and the sum of their hashes

// digest tells one set of values from another, whatever order they were written in. It serves against loss, not
// against somebody who can write the database: sums by exclusive or can be forged.
type digest struct {
	Count uint64
	Sum   [sha256.Size]byte // of the hashes, by exclusive or
}

// toggle adds a value to the sum, or takes it out: it does the same for both.
func (d *digest) toggle(key, stored []byte) {
	hash := sha256.New()
	hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(key)))) // keeps them apart
	hash.Write(key)
	hash.Write(stored)
	for i, b := range hash.Sum(nil) {
		d.Sum[i] ^= b
	}
}

// witness follows a value that is about to be replaced, or removed if stored is nil.
func (t *Table[V]) witness(tx kv.Tx, key, stored []byte) {
	d := t.digest(tx)
	if former := tx.Get(t.name, key); former != nil {
		d.Count--
		d.toggle(key, former)
	}
	if stored != nil {
		d.Count++
		d.toggle(key, stored)
	}
	tx.Put(digests, []byte(t.name), append(binary.BigEndian.AppendUint64(nil, d.Count), d.Sum[:]...))
}

// digest reads the table's digest. If none is stored it is that of an empty table.
func (t *Table[V]) digest(tx kv.Tx) (d digest) {
	if stored := tx.Get(digests, []byte(t.name)); len(stored) == 8+sha256.Size {
		d.Count = binary.BigEndian.Uint64(stored)
		copy(d.Sum[:], stored[8:])
	}
	return d
}
