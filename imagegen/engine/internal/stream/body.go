package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// maxEmptyReads is how often in a row a Body may bring neither bytes nor an error.
const maxEmptyReads = 100

// Body is what a provider or a caller sends of one image, for as long as there is somebody to wait for
// it: one that comes byte by byte, or without end, would otherwise hold a slot long after its caller
// was told. It keeps the rules of io.Reader, whatever it reads from does.
type Body struct {
	Ctx   context.Context // of the attempt or the call; io.Reader has no place for one
	R     io.Reader
	empty int
}

// Read implements io.Reader. It cannot end a Read that is under way.
func (b *Body) Read(p []byte) (n int, err error) {
	defer func() {
		if v := recover(); v != nil { // which neither an ImageStore nor a Spool is to meet
			n, err = 0, fmt.Errorf("reading: panic: %v", v)
		}
	}()
	if b.Ctx.Err() != nil {
		return 0, context.Cause(b.Ctx)
	}
	n, err = b.R.Read(p)
	if n < 0 || n > len(p) {
		return 0, errRead
	}
	if n > 0 || err != nil || len(p) == 0 {
		b.empty = 0
		return n, err
	}
	if b.empty++; b.empty == maxEmptyReads {
		return 0, io.ErrNoProgress
	}
	return 0, nil
}

var errRead = errors.New("it claims to have read more than there was room for")
