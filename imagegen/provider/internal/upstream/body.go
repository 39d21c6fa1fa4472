package upstream

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"sync"

	vector "github.com/segmentio/asm/base64"

	"github.com/imagegend/imagegend/imagegen"
)

// Body is a request's body: bytes, and reference images that are opened one after the other while it is sent. Its
// length is sent beforehand, so that the upstream notices when it breaks off. Form and Document make one; a nil *Body
// is an empty body. A Body can be sent once.
type Body struct {
	contentType string
	size        int64 // the sum of the parts'
	parts       []part
}

// part is a piece of a Body. What open returns must yield exactly size bytes, and is closed when it has been sent.
type part struct {
	size int64
	open func(context.Context) (io.ReadCloser, error)
}

func (b *Body) addPart(size int64, open func(context.Context) (io.ReadCloser, error)) {
	b.size += size
	b.parts = append(b.parts, part{size, open})
}

func (b *Body) addBytes(raw []byte) {
	b.addPart(int64(len(raw)), func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(raw)), nil
	})
}

// addBase64 adds a reference in base64, whose length follows from the reference's size.
func (b *Body) addBase64(r imagegen.ProviderReference) {
	b.addPart(int64(base64.StdEncoding.EncodedLen(int(r.Size))), func(ctx context.Context) (io.ReadCloser, error) {
		f, err := r.Open(ctx)
		if err != nil {
			return nil, err
		}
		return &encoder{source: f}, nil
	})
}

// attach makes b the body of a request that has none; a nil b leaves it so. The caller closes
// the result, which is never nil, when the exchange is over. References are opened with ctx,
// since the transport reads the body without a context.
func (b *Body) attach(ctx context.Context, r *http.Request) *sending {
	if b == nil {
		return &sending{}
	}
	s := &sending{ctx: ctx, parts: b.parts}
	r.Body, r.ContentLength = s, b.size
	r.Header.Set("Content-Type", b.contentType)
	return s
}

// errSent is what the transport gets that still reads when the call has returned.
var errSent = errors.New("the request has ended")

// sending reads a Body while it is sent. The transport's goroutine calls Read and Close; the sender
// closes it as well, because the transport may still be reading after the answer has come. After
// Close nothing is opened any more, so no reference stays open when a call has returned.
type sending struct {
	ctx context.Context // of the request that it belongs to

	mu     sync.Mutex    // guards the fields below; held while a part is opened or read
	parts  []part        // not opened yet
	open   io.ReadCloser // the part being read; nil between parts
	closed bool
	err    error // why a part could not be read
}

// Read reads from one part after the other. It holds the lock meanwhile, so that Close waits
// until no part is being read.
func (s *sending) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.closed {
		if s.open == nil {
			if len(s.parts) == 0 {
				return 0, io.EOF
			}
			if s.open, s.err = s.parts[0].open(s.ctx); s.err != nil {
				s.open = nil
				return 0, s.err
			}
			s.parts = s.parts[1:]
		}
		n, err := s.open.Read(p)
		if err == io.EOF {
			s.open, err = nil, s.open.Close()
		}
		if err != nil {
			s.err = err
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, errSent
}

// Close closes the part that is open. It can be called repeatedly, and always returns nil.
func (s *sending) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.open != nil {
		s.open.Close()
		s.open = nil
	}
	return nil
}

// failure returns the error with which a part could not be opened, read or closed; nil if none failed.
func (s *sending) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// encoder encodes a source in base64 as it is read. Its buffer holds a multiple of three bytes, so that only the last
// block is padded.
type encoder struct {
	source  io.ReadCloser
	raw     [3 << 12]byte
	encoded [4 << 12]byte
	rest    []byte // of encoded
	err     error
}

func (e *encoder) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		var n int
		if n, e.err = io.ReadFull(e.source, e.raw[:]); e.err == io.ErrUnexpectedEOF {
			e.err = io.EOF
		}
		if e.err != nil && e.err != io.EOF {
			return 0, e.err
		}
		e.rest = e.encoded[:base64.StdEncoding.EncodedLen(n)]
		vector.StdEncoding.Encode(e.rest, e.raw[:n])
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func (e *encoder) Close() error { return e.source.Close() }
