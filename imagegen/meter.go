package imagegen

import (
	"errors"
	"io"
)

var errTooLarge = errors.New("imagegen: too many bytes")

// meter counts and limits what is read through it, and hashes it if that is wanted.
type meter struct {
	r    io.Reader
	most int64
	hash *digest // nil: not wanted
	n    int64
	over bool
	err  error // of r
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if m.hash != nil {
		m.hash.write(p[:n])
	}
	m.n += int64(n)
	if m.n > m.most {
		m.over = true
		return n, errTooLarge
	}
	if err != nil && err != io.EOF {
		m.err = err
	}
	return n, err
}
