package storage

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

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

// sealed is what is stored for a value.
func (l label) sealed(key, value []byte) []byte {
	stored := append(make([]byte, 0, len(value)+sealLength), value...)
	return binary.BigEndian.AppendUint32(stored, l.seal(key, value))
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
		panic(kv.Damage{Err: fmt.Errorf("%w: %s %q does not match its checksum; run an audit and restore a backup", ErrCorrupt, l.name, key)})
	}
	return value
}
