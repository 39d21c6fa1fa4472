package kv

import "crypto/sha256"

// Chained is the hash of a value that follows one with the hash previous: none before it can be changed,
// removed or put elsewhere unnoticed.
func Chained(previous [sha256.Size]byte, value []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write(previous[:])
	h.Write(value)
	return [sha256.Size]byte(h.Sum(nil))
}
