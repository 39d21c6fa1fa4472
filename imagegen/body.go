package imagegen

import (
	"context"
	"io"
)

// mostEmptyReads is how often in a row a provider's body may bring neither bytes nor an error.
const mostEmptyReads = 100

// body is what a provider sends of one image, for as long as the attempt lasts: one that comes byte
// by byte, or without end, would otherwise hold the attempt's slot long after its caller was told.
type body struct {
	ctx   context.Context // of the attempt; io.Reader has no place for one
	r     io.Reader
	empty int
}

// Read implements io.Reader. It cannot end a Read of the provider's that is under way.
func (b *body) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	n, err := b.r.Read(p)
	if n > 0 || err != nil || len(p) == 0 {
		b.empty = 0
		return n, err
	}
	if b.empty++; b.empty == mostEmptyReads {
		return 0, io.ErrNoProgress
	}
	return 0, nil
}
