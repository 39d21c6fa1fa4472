package jsonscan

import (
	"io"
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
			return valid(string(piece))
		}
		if t = append(t, piece...); end {
			return valid(string(t))
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
func valid(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", imagegen.Invalid("the JSON body is not valid UTF-8")
	}
	return s, nil
}

// plain consumes the next part of a string without escapes, at most most bytes of it (0: as many as are
// in buf), and the closing quote if that follows; end reports the latter. An empty piece without end
// means that an escape comes next. piece is a part of buf: it is valid until the next fill.
func (s *Scanner) plain(most int) (piece []byte, end bool, err error) {
	if err := s.fill(); err != nil {
		return nil, false, s.cutShort(err, "the end of a string")
	}
	within := s.buf
	if most > 0 && len(within) > most {
		within = within[:most]
	}
	n := 0
	for n < len(within) && within[n] != '"' && within[n] != '\\' && within[n] >= ' ' {
		n++
	}
	piece = within[:n]
	s.skip(n)
	switch {
	case n == len(within) || within[n] == '\\':
		return piece, false, nil
	case within[n] == '"':
		s.skip(1)
		return piece, true, nil
	}
	return nil, false, s.expected("no bare control character in a string")
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
// UTF-8.
func (s *Scanner) Reader() io.Reader {
	s.skip(1) // see Kind
	return &content{s: s}
}

// content reads the content of a string.
type content struct {
	s       *Scanner
	pending []byte // of a decoded escape: what did not fit into the last Read
	ended   bool
}

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	for len(c.pending) == 0 {
		if c.ended {
			return 0, io.EOF
		}
		if len(p) == 0 {
			return 0, nil
		}
		piece, end, err := c.s.plain(len(p))
		if c.ended = end; err != nil {
			return 0, err
		}
		if len(piece) > 0 {
			return copy(p, piece), nil
		}
		if !end {
			r, err := c.s.escape()
			if err != nil {
				return 0, err
			}
			c.pending = utf8.AppendRune(nil, r)
		}
	}
	n := copy(p, c.pending)
	c.pending = c.pending[n:]
	return n, nil
}

// escape reads an escape from its backslash on, also both halves of a surrogate pair.
func (s *Scanner) escape() (rune, error) {
	r, ok, err := s.escaped()
	if err == nil && !ok {
		err = s.expected("a valid escape before this")
	}
	return r, err
}

// escaped is escape, with ok false instead of an error for an escape that JSON does not have.
func (s *Scanner) escaped() (r rune, ok bool, err error) {
	var c [2]byte
	if err := s.bytes(c[:]); err != nil {
		return 0, false, err
	}
	if c[1] != 'u' {
		i := strings.IndexByte(`"\/bfnrt`, c[1])
		if i < 0 {
			return 0, false, nil
		}
		return rune("\"\\/\b\f\n\r\t"[i]), true, nil
	}
	r, ok, err = s.hex()
	if err != nil || !ok || !utf16.IsSurrogate(r) {
		return r, ok, err
	}
	if err := s.bytes(c[:]); err != nil || c != [2]byte{'\\', 'u'} {
		return 0, false, err
	}
	low, ok, err := s.hex()
	r = utf16.DecodeRune(r, low)
	return r, ok && r != utf8.RuneError, err // DecodeRune gives RuneError for two halves that do not fit
}

// hex reads four hexadecimal digits.
func (s *Scanner) hex() (r rune, ok bool, err error) {
	var digits [4]byte
	if err := s.bytes(digits[:]); err != nil {
		return 0, false, err
	}
	for _, c := range digits {
		i := strings.IndexByte("0123456789abcdefABCDEF", c)
		if i < 0 {
			return 0, false, nil
		}
		if i >= 16 {
			i -= 6
		}
		r = r<<4 | rune(i)
	}
	return r, true, nil
}

// bytes fills p from the text; its bytes may come in several pieces.
func (s *Scanner) bytes(p []byte) error {
	for i := range p {
		if err := s.fill(); err != nil {
			return s.cutShort(err, "the end of an escape")
		}
		p[i] = s.buf[0]
		s.skip(1)
	}
	return nil
}
