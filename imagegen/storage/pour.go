package storage

import (
	"context"
	"io"
	"sync"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

const bufferSize = 64 << 10

// buffer is a part of what is poured.
type buffer struct {
	n     int
	bytes [bufferSize]byte
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// fill reads until the buffer is full; io.EOF if r ends before.
func (b *buffer) fill(r io.Reader) error {
	b.n = 0
	for b.n < bufferSize {
		n, err := r.Read(b.bytes[b.n:])
		if b.n += n; err != nil {
			return err
		}
	}
	return nil
}

// pour copies r to a file. It keeps the errors of the two apart. What does not fit into one buffer is
// written in the background, while more is read: r may have to hash or to parse what it yields.
func pour(ctx context.Context, to io.Writer, r io.Reader) error {
	first := buffers.Get().(*buffer)
	err := first.fill(r)
	if err == nil {
		return pourOn(ctx, to, first, r)
	}
	defer buffers.Put(first)
	if err != io.EOF {
		return err
	}
	_, err = to.Write(first.bytes[:first.n])
	return unwritten(err)
}

// pourOn writes a full buffer, and the rest of r behind it.
func pourOn(ctx context.Context, to io.Writer, b *buffer, r io.Reader) (err error) {
	w := &behind{to: to, full: make(chan *buffer, 2), failed: make(chan struct{}), ended: make(chan struct{})}
	go w.run()
	defer func() { // also when r panics
		close(w.full)
		if <-w.ended; w.err != nil {
			err = unwritten(w.err)
		}
	}()
	for !w.hasFailed() {
		w.full <- b
		if err := kv.NotBegun(ctx); err != nil {
			return err
		}
		b = buffers.Get().(*buffer)
		switch err := b.fill(r); err {
		case nil:
		case io.EOF:
			w.full <- b
			return nil
		default:
			return err
		}
	}
	return nil
}

// behind writes buffers in the background, in order. It takes them also when it has failed.
type behind struct {
	to     io.Writer
	full   chan *buffer
	failed chan struct{}
	ended  chan struct{}
	err    error // once ended
}

func (w *behind) run() {
	defer close(w.ended)
	for b := range w.full {
		if w.err == nil {
			if _, w.err = w.to.Write(b.bytes[:b.n]); w.err != nil {
				close(w.failed)
			}
		}
		buffers.Put(b)
	}
}

func (w *behind) hasFailed() bool {
	select {
	case <-w.failed:
		return true
	default:
		return false
	}
}
