package storage

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksums are those of a bucket's values. They are over the place of a value too, so that one that lies
// elsewhere is noticed.
type checksums struct {
	bucket kv.Bucket
	begin  uint32 // that of the bucket's name
}

func checksumsOf(bucket kv.Bucket) checksums {
	return checksums{bucket, crc32.Checksum([]byte(bucket), castagnoli)}
}

func (c checksums) of(key, value []byte) uint32 {
	return crc32.Update(crc32.Update(c.begin, castagnoli, key), castagnoli, value)
}

// stored is what is stored for a value: its checksum follows it.
func (c checksums) stored(key, value []byte) []byte {
	stored := append(make([]byte, 0, len(value)+crc32.Size), value...)
	return binary.BigEndian.AppendUint32(stored, c.of(key, value))
}

// check returns the value that was put; false if what is stored is none.
func (c checksums) check(key, stored []byte) (value []byte, ok bool) {
	n := len(stored) - crc32.Size
	if n < 0 || binary.BigEndian.Uint32(stored[n:]) != c.of(key, stored[:n]) {
		return nil, false
	}
	return stored[:n:n], true
}

// value returns the value that was put.
func (c checksums) value(key, stored []byte) []byte {
	value, ok := c.check(key, stored)
	if !ok {
		panic(kv.Damage{Err: fmt.Errorf("%w: %s %q does not match its checksum; run an audit and restore a backup", ErrCorrupt, c.bucket, key)})
	}
	return value
}
