package upstream

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
)

// Base64 decodes what r holds while it is read: base64 alone, or a data: URL. A [String] of a JSON document is
// decoded out of the buffer that the document is read into, and copied nowhere else.
func Base64(r io.Reader) io.Reader {
	if s, ok := r.(String); ok {
		r = s.Reader
	}
	in, ok := r.(characters)
	if !ok {
		in = buffered{bufio.NewReaderSize(r, bufferSize)}
	}
	return &decoder{in: in}
}

// characters are read in bulk as long as they are base64, and else one by one.
type characters interface {
	io.ByteReader
	Peek(n int) ([]byte, error)
	// ready returns what is in memory of the characters that come next: all before the first that is not of the
	// base64 alphabet are as ReadByte would return them.
	ready() []byte
	Discard(n int) (discarded int, err error)
}

// buffered are the characters of any reader.
type buffered struct{ *bufio.Reader }

func (b buffered) ready() []byte {
	p, _ := b.Peek(b.Buffered()) // no more than is there
	return p
}

type decoder struct {
	in      characters
	begun   bool
	quantum [3]byte
	rest    []byte // of quantum
	padded  bool   // it was the last
	err     error
}

var (
	errDataURL = errors.New("the data URL is not in base64")
	errBase64  = errors.New("it is not in base64")
)

// Read yields what is in memory, and waits only if that is nothing.
func (d *decoder) Read(p []byte) (n int, err error) {
	if !d.begun {
		d.begun, d.err = true, d.skipScheme()
	}
	for n < len(p) {
		if len(d.rest) == 0 {
			ready := d.ready()
			if n > 0 && len(ready) == 0 || d.err != nil {
				break
			}
			written, read := decodeQuanta(p[n:], ready)
			_, _ = d.in.Discard(read) // they are there
			if n += written; read > 0 {
				continue
			}
			d.next()
		}
		copied := copy(p[n:], d.rest)
		n, d.rest = n+copied, d.rest[copied:]
	}
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, d.err
}

// ready are characters that may be decoded in bulk.
func (d *decoder) ready() []byte {
	if d.padded {
		return nil
	}
	return d.in.ready()
}

// maxDataURLHead is the longest that may stand before the comma of a data URL.
const maxDataURLHead = 256

func (d *decoder) skipScheme() error {
	if scheme, _ := d.in.Peek(len("data:")); string(scheme) != "data:" {
		return nil
	}
	for range maxDataURLHead {
		switch c, err := d.in.ReadByte(); {
		case err == io.EOF:
			return errDataURL
		case err != nil || c == ',':
			return err
		}
	}
	return errDataURL
}

// next decodes four characters that decodeQuanta stopped at: among them are an escape, a line break or padding, or
// they are not all in memory.
func (d *decoder) next() {
	var four [4]byte
	for n := 0; n < len(four); {
		c, err := d.in.ReadByte()
		switch {
		case err == io.EOF && n == 0:
			d.err = io.EOF
			return
		case err != nil:
			d.err = unexpectedEnd(err)
			return
		case c == '\r' || c == '\n':
			continue
		case d.padded:
			d.err = errBase64
			return
		}
		four[n] = c
		n++
	}
	n, err := base64.StdEncoding.Decode(d.quantum[:], four[:])
	if err != nil {
		d.err = errBase64
		return
	}
	d.rest, d.padded = d.quantum[:n], n < len(d.quantum)
}

// decodeQuanta decodes src up to a character outside of the alphabet, eight at a time. encoding/base64 would take 0.7 ns
// a character more, a tenth of all that an image takes (BenchmarkImageInJSON), and has to be told where a string ends.
func decodeQuanta(dst, src []byte) (written, read int) {
	for len(dst)-written >= 8 && len(src)-read >= 8 {
		s := src[read : read+8 : read+8]
		first := sextets[0][s[0]] | sextets[1][s[1]] | sextets[2][s[2]] | sextets[3][s[3]]
		second := sextets[0][s[4]] | sextets[1][s[5]] | sextets[2][s[6]] | sextets[3][s[7]]
		if (first|second)&foreign != 0 {
			break
		}
		binary.BigEndian.PutUint64(dst[written:], uint64(first)<<40|uint64(second)<<16)
		written, read = written+6, read+8
	}
	return written, read
}

// foreign is what a character stands for that is not of the alphabet.
const foreign = 1 << 31

// sextets tell what a character stands for at each place of a quantum.
var sextets = func() (places [4][256]uint32) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for place := range places {
		for c := range places[place] {
			places[place][c] = foreign
		}
		for value, c := range []byte(alphabet) {
			places[place][c] = uint32(value) << (18 - 6*place)
		}
	}
	return places
}()
