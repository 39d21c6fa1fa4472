package upstream

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strings"

	vector "github.com/segmentio/asm/base64"
)

// Base64 returns a reader that decodes r as it is read. r holds either base64, in the standard alphabet or the one for
// URLs (RFC 4648, sections 4 and 5), with or without padding, or a data: URL in base64; white space is ignored. A
// [String] of a JSON document is decoded straight from the buffer that the document is read into, without another copy.
// The reader first returns what was decoded, and then an error if something is not base64, follows the padding, or is
// missing at the end.
func Base64(r io.Reader) io.Reader {
	if s, ok := r.(String); ok {
		r = s.Reader
	}
	in, ok := r.(characters)
	if !ok {
		in = buffered{bufio.NewReaderSize(r, 64<<10)}
	}
	return &decoder{in: in, alphabet: vector.StdEncoding}
}

// characters are the input of a decoder, which reads them in bulk while they are base64, and otherwise one by one.
type characters interface {
	io.ByteReader
	Peek(n int) ([]byte, error)
	// Ready returns those of the next characters that are in memory, without waiting. Up to the first character
	// outside the base64 alphabet they are as ReadByte would return them; from there on they may be raw escapes.
	// The slice is valid until the next call.
	Ready() []byte
	Discard(n int) (discarded int, err error)
}

// buffered makes characters of any reader.
type buffered struct{ *bufio.Reader }

func (b buffered) Ready() []byte {
	p, _ := b.Peek(b.Buffered()) // never more than is buffered, so it cannot fail
	return p
}

// decoder decodes in two ways: decodeQuanta takes what is in memory and in the alphabet, by vector
// instructions; next takes one quantum, four characters, wherever that stops. No
// quantum is begun by one of them and ended by the other.
type decoder struct {
	in       characters
	alphabet *vector.Encoding
	begun    bool    // the scheme of a data: URL has been skipped, if there was one
	quantum  [3]byte // decoded by next
	rest     []byte  // of quantum, still to be read
	padded   bool    // the last quantum was padded: only white space may follow
	err      error   // comes after rest
}

var (
	errDataURL = errors.New("the data URL is not in base64")
	errBase64  = errors.New("it is not in base64")
)

// Read returns what can be decoded from memory, and waits for more only if that is nothing.
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
			written, read := d.decodeQuanta(p[n:], ready)
			_, _ = d.in.Discard(read) // cannot fail: they are in memory
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

// ready returns characters that may be decoded in bulk: none after padding, where any character is an error.
func (d *decoder) ready() []byte {
	if d.padded {
		return nil
	}
	return d.in.Ready()
}

// whiteSpace is ignored within base64, and before and behind an address.
const whiteSpace = " \t\r\n"

// maxDataURLHead is the longest text before the comma of a data: URL, after "data:".
const maxDataURLHead = 256

// skipScheme skips the head of a data: URL up to its comma. Whether the head says base64 is not checked: what follows
// is decoded as base64 in any case, and fails if it is not.
func (d *decoder) skipScheme() error {
	for c, _ := d.in.Peek(1); len(c) > 0 && strings.Contains(whiteSpace, string(c)); c, _ = d.in.Peek(1) {
		_, _ = d.in.Discard(1) // cannot fail: it is in memory
	}
	if scheme, _ := d.in.Peek(len("data:")); !strings.EqualFold(string(scheme), "data:") {
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

// next decodes the four characters at which decodeQuanta stopped, because there is an escape, white space or padding
// among them, or because too few are in memory. It sets rest, or err at the end.
func (d *decoder) next() {
	var four [4]byte
	for n := 0; n < len(four); {
		c, err := d.in.ReadByte()
		switch {
		case err == io.EOF && n != 1: // nothing follows, or padding was left out
			d.err = io.EOF
			d.decode(four[:n])
			return
		case err != nil:
			d.err = err
			if err == io.EOF {
				d.err = io.ErrUnexpectedEOF
			}
			return
		case strings.IndexByte(whiteSpace, c) >= 0:
			continue
		case d.padded:
			d.err = errBase64
			return
		case c == '-': // of the alphabet for URLs
			c = '+'
		case c == '_':
			c = '/'
		}
		four[n] = c
		n++
	}
	d.decode(four[:])
}

// decode sets rest to what a quantum means, or err. It may be shorter than four characters, without padding.
func (d *decoder) decode(quantum []byte) {
	encoding := base64.StdEncoding
	if len(quantum) < 4 {
		encoding = base64.RawStdEncoding
	}
	n, err := encoding.Decode(d.quantum[:], quantum)
	if err != nil {
		d.err = errBase64
		return
	}
	d.rest, d.padded = d.quantum[:n], n < len(d.quantum)
}

// decodeQuanta decodes src in bulk, up to a quantum that is not four characters of the alphabet, which is left to next.
// If a character of the other alphabet has stopped it, it goes on with that one. A line break would be skipped without
// being counted, so what is behind one has to wait too.
func (d *decoder) decodeQuanta(dst, src []byte) (written, read int) {
	for _, end := range "\n\r" {
		if i := bytes.IndexByte(src, byte(end)); i >= 0 {
			src = src[:i]
		}
	}
	src = src[:min(len(dst)/3, len(src)/4)*4]
	n, _ := d.alphabet.Decode(dst, src) // where it stopped is an error for next
	quanta := n / 3
	if left := src[quanta*4:]; len(left) > 0 {
		switch stop := left[:4]; {
		case bytes.ContainsAny(stop, "-_"):
			d.alphabet = vector.URLEncoding
		case bytes.ContainsAny(stop, "+/"):
			d.alphabet = vector.StdEncoding
		}
	}
	return quanta * 3, quanta * 4
}
