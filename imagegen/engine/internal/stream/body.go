package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// maxEmptyReads is how often in a row a Body may bring neither bytes nor an error.
const maxEmptyReads = 100

// Body is what a provider or a caller sends of one image. Reading ends with the context:
// otherwise a body that arrives byte by byte, or never ends, would hold a slot long after
// its caller got an answer. Body also enforces the rules of io.Reader on whatever it
// reads from.
type Body struct {
	Ctx   context.Context // of the attempt or the call; io.Reader has no place for one
	R     io.Reader
	empty int
}

// Read implements io.Reader. It cannot interrupt a Read that is already running. A panic
// of R becomes an error.
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
