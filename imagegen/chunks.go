package imagegen

import (
	"io"
	"sync"
)

const chunkSize = 64 << 10

// chunks hold bytes in pieces that are used again: an image costs no memory of its own, and is not
// copied as it grows. All but the last are full.
type chunks []*chunk

type chunk struct {
	n     int
	bytes [chunkSize]byte
}

var freeChunks = sync.Pool{New: func() any { return new(chunk) }}

// fill adds a chunk of what r yields. more tells whether there may be more.
func (c *chunks) fill(r io.Reader) (more bool, err error) {
	next := freeChunks.Get().(*chunk)
	next.n = 0
	*c = append(*c, next)
	for next.n < chunkSize {
		n, err := r.Read(next.bytes[next.n:])
		next.n += n
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// reader reads the bytes from their beginning.
func (c chunks) reader() io.Reader { return &chunkReader{left: c} }

// free gives the chunks back. Nothing may read them any more.
func (c *chunks) free() {
	for _, one := range *c {
		freeChunks.Put(one)
	}
	*c = nil
}

type chunkReader struct {
	left chunks
	at   int // in the first of them
}

func (r *chunkReader) Read(p []byte) (int, error) {
	for len(r.left) > 0 && r.at == r.left[0].n {
		r.left, r.at = r.left[1:], 0
	}
	if len(r.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.left[0].bytes[r.at:r.left[0].n])
	r.at += n
	return n, nil
}
