// Package batchlog writes the lines of a log together: with one for each request, a system call for
// each line would be a tenth of what it takes to answer a read.
package batchlog

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	// Delay is the longest that a line waits.
	Delay = 100 * time.Millisecond
	// maxBytes is the most that wait.
	maxBytes = 64 << 10
)

// New returns the handler that format makes, over a writer that gathers lines. A line of level Warn or
// above is written at once, with those before it; others within Delay, or with flush.
func New(w io.Writer, format func(io.Writer) slog.Handler) (h slog.Handler, flush func()) {
	b := &batch{w: w}
	return handler{format(b), b}, b.flush
}

// batch is what has not been written yet.
type batch struct {
	w     io.Writer
	mu    sync.Mutex
	lines []byte
}

// Write implements io.Writer.
func (b *batch) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.lines) == 0 {
		time.AfterFunc(Delay, b.flush)
	}
	b.lines = append(b.lines, line...)
	if len(b.lines) >= maxBytes {
		b.write()
	}
	return len(line), nil
}

func (b *batch) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.write()
}

func (b *batch) write() {
	if len(b.lines) > 0 {
		b.w.Write(b.lines) // a log that cannot be written is no reason to stop
		b.lines = b.lines[:0]
	}
}

// handler hurries where something is wrong.
type handler struct {
	slog.Handler
	batch *batch
}

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		h.batch.flush()
	}
	return err
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.batch}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.batch}
}
