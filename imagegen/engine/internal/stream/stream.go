// Package stream reads the bytes of an image as they arrive: it enforces the rules of a
// reader, and counts, bounds and hashes them.
package stream

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/imagegend/imagegend/imagegen"
)

// errTooLarge is the error of a Meter when more than Most bytes arrive.
var errTooLarge = errors.New("imagegen: too many bytes")

// Meter counts and limits the bytes that are read through it, and hashes them if Hash is
// set.
type Meter struct {
	R    io.Reader
	Most int64
	Hash hash.Hash // nil: not wanted

	N     int64 // bytes so far
	Over  bool  // there were more than Most
	Ended bool
	Err   error // of R
}

// Read implements io.Reader. It fails after more than Most bytes.
func (m *Meter) Read(p []byte) (int, error) {
	n, err := m.R.Read(p)
	if m.Hash != nil {
		m.Hash.Write(p[:n])
	}
	m.N += int64(n)
	if m.N > m.Most {
		m.Over = true
		return n, errTooLarge
	}
	if m.Ended = err == io.EOF; err != nil && !m.Ended {
		m.Err = err
	}
	return n, err
}

// MayBeKept reports whether a Spool may have kept the bytes although it failed with err: the fault
// was its own, and it is not certain that it wrote nothing.
func (m *Meter) MayBeKept(err error) bool {
	return !m.Over && m.Err == nil && !imagegen.Definite(err)
}

// Sum is the SHA-256 of what was read so far.
func (m *Meter) Sum() [sha256.Size]byte { return [sha256.Size]byte(m.Hash.Sum(nil)) }

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
	err   error // the first one
}

// Read implements io.Reader. It cannot interrupt a Read that is already running. A panic
// of R becomes an error. The first error stays.
func (b *Body) Read(p []byte) (n int, err error) {
	if b.err != nil {
		return 0, b.err
	}
	defer func() {
		if v := recover(); v != nil { // which neither an ImageStore nor a Spool is to meet
			n, err = 0, fmt.Errorf("reading: panic: %v", v)
		}
		b.err = err
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

var errRead = errors.New("its Read returned an impossible count")
