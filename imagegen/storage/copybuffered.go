package storage

import (
	"context"
	"io"
	"sync"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

const bufferSize = 64 << 10

type buffer [bufferSize]byte

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// copyBuffered copies r to a file. It keeps the errors of the two apart.
func copyBuffered(ctx context.Context, to io.Writer, r io.Reader) error {
	b := buffers.Get().(*buffer)
	defer buffers.Put(b)
	for {
		n, err := b.fill(r)
		if err != nil && err != io.EOF {
			return err
		}
		if _, failed := to.Write(b[:n]); failed != nil {
			return unwritten(failed)
		}
		if err == io.EOF {
			return nil
		}
		if err := kv.NotBegun(ctx); err != nil {
			return err
		}
	}
}

// fill reads until the buffer is full; io.EOF if r ends before.
func (b *buffer) fill(r io.Reader) (n int, err error) {
	for n < len(b) && err == nil {
		var more int
		more, err = r.Read(b[n:])
		n += more
	}
	return n, err
}
