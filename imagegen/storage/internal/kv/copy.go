package kv

import (
	"bufio"
	"context"
	"io"
)

// Copy copies r to a file until ctx ends, 64 KiB at a time, so that a slow r makes few small writes. It returns an
// error of r as it is, since it may be the caller's own, and one of the file as Unwritten. It does not interrupt a Read
// that hangs.
func Copy(ctx context.Context, to io.Writer, r io.Reader) (n int64, err error) {
	from := &source{ctx: ctx, r: r}
	out := bufio.NewWriterSize(struct{ io.Writer }{to}, 64<<10) // an *os.File would read by itself, in smaller pieces
	n, err = out.ReadFrom(from)
	if err == nil {
		err = out.Flush()
	}
	switch {
	case from.err != nil:
		return n, from.err
	case err != nil:
		return n, Unwritten(err)
	}
	return n, nil
}

// source reads from r until ctx ends, and notes why the reading failed: a copy does not distinguish a failure of its
// reader from one of its writer.
type source struct {
	ctx context.Context
	r   io.Reader
	err error
}

// Read implements [io.Reader].
func (s *source) Read(p []byte) (int, error) {
	if s.err = NotBegun(s.ctx); s.err != nil {
		return 0, s.err
	}
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
