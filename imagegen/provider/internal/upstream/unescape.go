package upstream

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// unescaper reads a JSON string whose opening quote has been read, to its closing quote (RFC 8259, section 7). Its
// error is then io.EOF; io.ErrUnexpectedEOF if the document ends before. Control characters are not refused.
type unescaper struct {
	in    *bufio.Reader
	space [utf8.UTFMax]byte // holds rest, unless Peek has read more
	rest  []byte            // unescaped already, and read first
	err   error             // what follows rest
}

// Read implements io.Reader.
func (u *unescaper) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(u.rest) == 0 && u.err == nil {
		if n := u.plain(p); n > 0 {
			return n, nil
		}
		u.unescape()
	}
	n := copy(p, u.rest)
	if u.rest = u.rest[n:]; n > 0 {
		return n, nil
	}
	return 0, u.err
}

// ReadByte implements io.ByteReader.
func (u *unescaper) ReadByte() (byte, error) {
	if len(u.rest) == 0 && u.err == nil {
		u.unescape()
	}
	if len(u.rest) == 0 {
		return 0, u.err
	}
	c := u.rest[0]
	u.rest = u.rest[1:]
	return c, nil
}

// Peek returns the next n bytes without reading them, fewer with an error if the string ends before.
func (u *unescaper) Peek(n int) ([]byte, error) {
	begin := slices.Clone(u.rest)
	for len(begin) < n && u.err == nil {
		u.rest = nil
		u.unescape()
		begin = append(begin, u.rest...)
	}
	u.rest = begin
	return begin[:min(n, len(begin))], u.err
}

// ready implements characters. What it returns may go beyond the closing quote: neither quotes nor escapes are in the
// base64 alphabet, so the decoder stops before them.
func (u *unescaper) ready() []byte {
	if len(u.rest) > 0 || u.err != nil {
		return u.rest
	}
	return buffered{u.in}.ready()
}

// Discard implements characters: it skips bytes that ready has returned.
func (u *unescaper) Discard(n int) (int, error) {
	if len(u.rest) > 0 {
		u.rest = u.rest[n:]
		return n, nil
	}
	return u.in.Discard(n)
}

// plain copies what is in memory before the next quote or escape. rest must be empty.
func (u *unescaper) plain(p []byte) int {
	ready := u.ready()
	ready = ready[:min(len(p), len(ready))]
	if i := bytes.IndexByte(ready, '"'); i >= 0 {
		ready = ready[:i]
	}
	if i := bytes.IndexByte(ready, '\\'); i >= 0 {
		ready = ready[:i]
	}
	copy(p, ready)
	_, _ = u.in.Discard(len(ready)) // they are there
	return len(ready)
}

var escapes = map[byte]string{'"': `"`, '\\': `\`, '/': "/", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t"}

// unescape reads the next byte or escape into rest, which must be empty, or sets err.
func (u *unescaper) unescape() {
	c, err := u.in.ReadByte()
	switch {
	case err != nil:
		u.err = unexpectedEnd(err)
	case c == '"':
		u.err = io.EOF
	case c == '\\':
		u.escape()
	default:
		u.rest = append(u.space[:0], c)
	}
}

// escape reads into rest what a backslash that has been read stands for, or sets err.
func (u *unescaper) escape() {
	c, err := u.in.ReadByte()
	if err != nil {
		u.err = unexpectedEnd(err)
		return
	}
	if c == 'u' {
		u.rest = utf8.AppendRune(u.space[:0], u.unicode())
		return
	}
	text, ok := escapes[c]
	if !ok {
		u.err = fmt.Errorf("the answer is no JSON: escape %q", []byte{'\\', c})
	}
	u.rest = append(u.space[:0], text...)
}

// unicode reads the four digits behind \u, and the second half of a surrogate pair if it follows. A half alone
// becomes U+FFFD, as in encoding/json; what follows it is read for itself.
func (u *unescaper) unicode() rune {
	first := u.hex()
	if !utf16.IsSurrogate(first) {
		return first
	}
	if next, _ := u.in.Peek(2); string(next) != `\u` {
		return utf8.RuneError
	}
	next, _ := u.in.Peek(len(`\u0000`)) // what is too short fails when it is read
	second, _ := strconv.ParseUint(string(next[2:]), 16, 16)
	pair := utf16.DecodeRune(first, rune(second))
	if pair != utf8.RuneError {
		u.in.Discard(len(next)) // they are buffered
	}
	return pair
}

// hex reads four hexadecimal digits. It sets err if they are none.
func (u *unescaper) hex() rune {
	var digits [4]byte
	if _, err := io.ReadFull(u.in, digits[:]); err != nil {
		u.err = unexpectedEnd(err)
		return utf8.RuneError
	}
	code, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		u.err = fmt.Errorf("the answer is no JSON: escape %q", digits)
	}
	return rune(code)
}

// unexpectedEnd returns io.ErrUnexpectedEOF for io.EOF, where the end must not come yet, and
// any other error as it is.
func unexpectedEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
