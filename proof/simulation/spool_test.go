package simulation_test

import (
	"bytes"
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/imagegend/imagegend/imagegen"
)

// spool holds references in memory, of large ones the beginning.
type spool struct {
	files sync.Map
	kept  atomic.Int64 // bytes, all in all
}

var _ imagegen.Spool = (*spool)(nil)

// mostSpooled is what is kept of all files: enough for every picture that can be good.
const mostSpooled = 5 << 20

func (s *spool) Stage(_ context.Context, id imagegen.ReferenceID, r io.Reader) error {
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(r, max(0, mostSpooled-s.kept.Load())))
	s.kept.Add(n)
	if err == nil {
		// io.Discard brings many buffers
		_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, make([]byte, 64<<10))
	}
	if err == nil {
		s.files.Store(id, b.Bytes())
	}
	return err
}

func (s *spool) Keep(context.Context, ...imagegen.ReferenceID) error { return nil }

func (s *spool) Open(_ context.Context, id imagegen.ReferenceID) (io.ReadCloser, error) {
	b, ok := s.files.Load(id)
	if !ok {
		return nil, imagegen.ErrNotFound
	}
	return io.NopCloser(bytes.NewReader(b.([]byte))), nil
}

func (s *spool) Remove(_ context.Context, ids ...imagegen.ReferenceID) error {
	for _, id := range ids {
		if b, ok := s.files.LoadAndDelete(id); ok {
			s.kept.Add(-int64(len(b.([]byte))))
		}
	}
	return nil
}
