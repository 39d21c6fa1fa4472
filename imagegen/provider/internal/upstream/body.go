package upstream

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// Body is a request's body: bytes, and reference images that are opened one after the other while
// it is sent. Its length is known beforehand, so that a body which breaks off is noticed by the
// upstream. Form and Document make one; a nil *Body is no body. A Body can be sent once.
type Body struct {
	contentType string
	size        int64 // the sum of the parts'
	parts       []part
}

// part yields exactly size bytes.
type part struct {
	size int64
	open func(context.Context) (io.ReadCloser, error)
}

func (b *Body) add(size int64, open func(context.Context) (io.ReadCloser, error)) {
	b.size += size
	b.parts = append(b.parts, part{size, open})
}

func (b *Body) addBytes(raw []byte) {
	b.add(int64(len(raw)), func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil })
}

func (b *Body) addFile(r imagegen.ProviderReference) { b.add(r.Size, r.Open) }

func (b *Body) addBase64(r imagegen.ProviderReference) {
	b.add(int64(base64.StdEncoding.EncodedLen(int(r.Size))), func(ctx context.Context) (io.ReadCloser, error) {
		f, err := r.Open(ctx)
		if err != nil {
			return nil, err
		}
		return &encoder{source: f}, nil
	})
}

// attach makes b the body of a request that has none. The caller closes the result when the exchange is over. ctx opens
// the references, since the transport reads the body without one.
func (b *Body) attach(ctx context.Context, r *http.Request) *sending {
	if b == nil {
		return &sending{}
	}
	s := &sending{ctx: ctx, parts: b.parts}
	r.Body, r.ContentLength = s, b.size
	r.Header.Set("Content-Type", b.contentType)
	return s
}

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

// failure returns the error of a part; nil if the body is not what failed.
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
		base64.StdEncoding.Encode(e.rest, e.raw[:n])
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func (e *encoder) Close() error { return e.source.Close() }
