package jsonscan

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
)

// text reads a string from behind its opening quote, and returns it decoded. Most strings come in one
// piece, which is copied once.
func (s *Scanner) text() (string, error) {
	var t []byte
	for {
		piece, end, err := s.plain(len(s.room))
		if err == nil {
			err = s.holds(len(piece))
		}
		if err != nil {
			return "", err
		}
		if t == nil && end {
			return s.valid(string(piece))
		}
		if t = append(t, piece...); end {
			return s.valid(string(t))
		}
		if len(piece) == 0 {
			r, err := s.escape()
			if err == nil {
				err = s.holds(utf8.RuneLen(r))
			}
			if err != nil {
				return "", err
			}
			t = utf8.AppendRune(t, r)
		}
	}
}

// valid refuses a string that is not UTF-8. Strings are checked whole, since a character may lie
// across two pieces.
func (s *Scanner) valid(text string) (string, error) {
	if !s.lenient && !utf8.ValidString(text) {
		return "", imagegen.Invalid("the JSON body is not valid UTF-8")
	}
	return text, nil
}

// plain consumes the next part of a string without escapes, at most most bytes of it (0: as many as are
// in buf), and the closing quote if that follows; end reports the latter. An empty piece without end
// means that an escape comes next. piece is a part of buf: it is valid until the next peek.
func (s *Scanner) plain(most int) (piece []byte, end bool, err error) {
	if _, err := s.peek(1); err != nil {
		return nil, false, s.cutShort(err, "the end of a string")
	}
	within := s.buf
	if most > 0 && len(within) > most {
		within = within[:most]
	}
	piece = within
	for _, c := range []byte(`"\`) {
		if i := bytes.IndexByte(piece, c); i >= 0 {
			piece = piece[:i]
		}
	}
	for i := 0; i < len(piece) && !s.lenient; i++ {
		if piece[i] < ' ' {
			piece = piece[:i]
		}
	}
	n := len(piece)
	s.skip(n)
	switch {
	case n == len(within) || within[n] == '\\':
		return piece, false, nil
	case within[n] == '"':
		s.skip(1)
		return piece, true, nil
	}
	return piece, false, s.expected("no bare control character in a string")
}

// cutShort turns an io.EOF within a value into the error for malformed JSON.
func (s *Scanner) cutShort(err error, what string) error {
	if err == io.EOF {
		return s.expected(what)
	}
	return err
}

// Reader returns a reader of a string as it comes. Kind must just have reported Text. The reader must
// be read to its end, io.EOF, before the Scanner reads anything else. Its bytes are not checked to be
// UTF-8. It also has the methods of a bufio.Reader that a decoder needs, see content.
func (s *Scanner) Reader() io.Reader {
	s.skip(1) // see Kind
	return &content{s: s}
}

// content reads the content of a string.
type content struct {
	s       *Scanner
	space   [utf8.UTFMax]byte // holds pending, unless Peek has read more
	pending []byte            // decoded, and read first
	err     error             // what follows pending; io.EOF: the string has ended
}

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	for len(c.pending) == 0 {
		if c.err != nil || len(p) == 0 {
			return 0, c.err
		}
		piece, end, err := c.s.plain(len(p))
		if c.err = err; end {
			c.err = io.EOF
		}
		if len(piece) > 0 {
			return copy(p, piece), nil
		}
		if c.err == nil {
			var r rune
			if r, c.err = c.s.escape(); c.err == nil {
				c.pending = utf8.AppendRune(c.space[:0], r)
			}
		}
	}
	n := copy(p, c.pending)
	c.pending = c.pending[n:]
	return n, nil
}

// ReadByte implements io.ByteReader.
func (c *content) ReadByte() (byte, error) {
	var b [1]byte
	_, err := c.Read(b[:])
	return b[0], err
}

// Peek returns the next n bytes without reading them, fewer with an error if the string ends before.
func (c *content) Peek(n int) ([]byte, error) {
	begin := make([]byte, 0, n+utf8.UTFMax)
	var err error
	for len(begin) < n && err == nil {
		var more int
		more, err = c.Read(begin[len(begin):n])
		begin = begin[:len(begin)+more]
	}
	c.pending = append(begin, c.pending...)
	return c.pending[:min(n, len(c.pending))], err
}

// Ready returns those of the next bytes that are in memory, without waiting. They are decoded up to the first quote or
// backslash, and raw from there on, also beyond the end of the string. They are valid until the next call.
func (c *content) Ready() []byte {
	if len(c.pending) > 0 || c.err != nil {
		return c.pending
	}
	return c.s.buf
}

// Discard skips n bytes that Ready has returned and that come before the first quote or backslash.
func (c *content) Discard(n int) (int, error) {
	if len(c.pending) > 0 {
		c.pending = c.pending[n:]
	} else {
		c.s.skip(n)
	}
	return n, nil
}

// escape reads an escape from its backslash on, also both halves of a surrogate pair.
func (s *Scanner) escape() (rune, error) {
	c, err := s.escaped(2)
	if err != nil {
		return 0, err
	}
	if c[1] != 'u' {
		i := strings.IndexByte(`"\/bfnrt`, c[1])
		if i < 0 {
			return 0, s.noEscape(2)
		}
		s.skip(2)
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c, err = s.escaped(6); err != nil {
		return 0, err
	}
	first, ok := unit(c)
	if !ok {
		return 0, s.noEscape(6)
	}
	s.skip(6)
	if !utf16.IsSurrogate(first) {
		return first, nil
	}
	c, err = s.peek(6) // if it is too short, it is not the other half
	second, ok := unit(c)
	switch pair := utf16.DecodeRune(first, second); {
	case ok && pair != utf8.RuneError:
		s.skip(6)
		return pair, nil
	case s.lenient:
		return utf8.RuneError, nil // what follows is read for itself
	case err != nil && err != io.EOF:
		return 0, err
	}
	return 0, s.noEscape(0)
}

// escaped is peek of n bytes of an escape, which must come.
func (s *Scanner) escaped(n int) ([]byte, error) {
	b, err := s.peek(n)
	if err != nil {
		s.skip(len(s.buf))
		err = s.cutShort(err, "the end of an escape")
	}
	return b, err
}

// noEscape is the error for n bytes that JSON does not have as an escape.
func (s *Scanner) noEscape(n int) error {
	if s.lenient {
		return fmt.Errorf("the answer is not JSON: escape %q", s.buf[:n])
	}
	s.skip(n)
	return s.expected("a valid escape before this")
}

// unit returns the unit of UTF-16 that an escape such as \u00e9 stands for; ok is false if it is not one.
func unit(escape []byte) (r rune, ok bool) {
	if len(escape) < 6 || escape[0] != '\\' || escape[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(escape[2:6]), 16, 16)
	return rune(n), err == nil
}
