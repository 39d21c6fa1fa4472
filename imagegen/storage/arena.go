package storage

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
