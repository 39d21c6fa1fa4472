// Package stream reads the bytes of an image as they arrive: it enforces the rules of a
// reader, and counts, bounds and hashes them.
package stream

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
)

// ErrTooLarge is the error of a Meter when more than Most bytes arrive.
var ErrTooLarge = errors.New("imagegen: too many bytes")

// Meter counts and limits the bytes that are read through it, and hashes them if Hash is
// set.
type Meter struct {
	R    io.Reader
	Most int64
	Hash hash.Hash // nil: not wanted

	N     int64 // bytes so far
	Over  bool  // there were more than Most
	Ended bool
	Err   error // of R
}

// Read implements io.Reader. ErrTooLarge.
func (m *Meter) Read(p []byte) (int, error) {
	n, err := m.R.Read(p)
	if m.Hash != nil {
		m.Hash.Write(p[:n])
	}
	m.N += int64(n)
	if m.N > m.Most {
		m.Over = true
		return n, ErrTooLarge
	}
	if m.Ended = err == io.EOF; err != nil && !m.Ended {
		m.Err = err
	}
	return n, err
}

// Sum is the SHA-256 of what was read so far.
func (m *Meter) Sum() [sha256.Size]byte { return [sha256.Size]byte(m.Hash.Sum(nil)) }
