package engine

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
)

var errTooLarge = errors.New("imagegen: too many bytes")

// meter counts and limits what is read through it, and hashes it if that is wanted.
type meter struct {
	r     io.Reader
	most  int64
	hash  hash.Hash // nil: not wanted
	n     int64
	over  bool
	ended bool
	err   error // of r
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if m.hash != nil {
		m.hash.Write(p[:n])
	}
	m.n += int64(n)
	if m.n > m.most {
		m.over = true
		return n, errTooLarge
	}
	if m.ended = err == io.EOF; err != nil && !m.ended {
		m.err = err
	}
	return n, err
}

// sum is the SHA-256 of what was read.
func (m *meter) sum() [sha256.Size]byte { return [sha256.Size]byte(m.hash.Sum(nil)) }
