package simulation_test

import (
	"bytes"
	"context"
	"io"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// spool holds references in memory, of large ones the beginning.
type spool struct{ files sync.Map }

var _ imagegen.Spool = (*spool)(nil)

// mostSpooled is what is kept of one file: enough for every picture that can be good.
const mostSpooled = 5 << 20

func (s *spool) Stage(_ context.Context, id imagegen.ReferenceID, r io.Reader) error {
	var b bytes.Buffer
	_, err := b.ReadFrom(io.LimitReader(r, mostSpooled))
	if err == nil {
		_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, make([]byte, 64<<10)) // io.Discard brings many buffers
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
		s.files.Delete(id)
	}
	return nil
}
