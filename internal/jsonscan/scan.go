// Package jsonscan reads JSON as it comes, and strictly unless it is asked not to. Package encoding/json
// would hold all of it in memory, and would accept what a caller cannot have meant: names in other cases,
// bytes that are not UTF-8, half a surrogate pair.
//
// Object reads a small object that is in memory. A Scanner reads a stream of any length, strictly or, for
// an upstream's answer, leniently: the caller walks through it by Object, Array and Value, and takes long
// strings from Reader without holding them. Names are not checked here, and may repeat: only the caller
// knows them.
//
// The errors are ErrInvalidRequest and say where the JSON is malformed, or are those of the reader,
// of keep, or of the caller's functions. After an error the Scanner is of no further use.
//
//	s := jsonscan.New(body, keep)
//	err := s.Object(func(name string) error {
//		v, err := s.Value()
//		...
//	})
//	if err == nil {
//		err = s.End()
//	}
package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// Kind is the JSON type of a value, in words for messages.
type Kind string

// The kinds.
const (
	Null     Kind = "null"
	Text     Kind = "a string"
	Number   Kind = "a number"
	Boolean  Kind = "true or false"
	Compound Kind = "an object or array"
)

// Value is one value: the decoded string, or the literal as it was sent. The Text of null is empty, and
// so is that of an object or array, which is not read.
type Value struct {
	Kind Kind
	Text string
}

// Object reads b as one object without anything behind it, and calls f for each member in turn. Its
// values must not be objects or arrays: for one that is, f gets the kind Compound and must return an
// error. Strings are copied out of b.
func Object(b []byte, f func(name string, v Value) error) error {
	s := &Scanner{buf: b}
	err := s.Object(func(name string) error {
		v, err := s.Value()
		if err != nil {
			return err
		}
		return f(name, v)
	})
	if err != nil {
		return err
	}
	return s.End()
}

// Scanner reads one JSON text. It is not safe for concurrent use.
type Scanner struct {
	r    io.Reader               // yields what follows buf; nil: nothing does
	keep func(bytes int64) error // see New; nil: nobody counts
	buf  []byte                  // what was read and not yet consumed: a part of room, or of the given text
	room []byte                  // the memory of buf; nil if all of the text was given
	at   int64                   // how many bytes were consumed, for messages

	lenient bool // see Lenient
}

// New returns a Scanner of what r yields. keep is called before a name, a text or a literal takes that
// many more bytes of memory, and can refuse that with an error, which ends the reading. What Reader
// yields is not held and not counted.
func New(r io.Reader, keep func(bytes int64) error) *Scanner {
	return &Scanner{r: r, keep: keep, room: make([]byte, 32<<10)}
}

// Lenient is New for the answer of a program that nobody can correct. A byte order mark may come first, strings may
// hold control characters and bytes that are not UTF-8, half a surrogate pair becomes U+FFFD, as in encoding/json, and
// numbers and literals are not checked closely. The errors are about an answer; io.ErrUnexpectedEOF: it ends early.
func Lenient(r io.Reader, keep func(bytes int64) error) *Scanner {
	s := &Scanner{r: r, keep: keep, room: make([]byte, 64<<10), lenient: true} // a few records of TLS, of up to 16 KiB
	if mark, _ := s.peek(len("\ufeff")); string(mark) == "\ufeff" {
		s.skip(len(mark))
	}
	return s
}

// Object reads an object and calls f for each member in turn. f must read the value, whole, by one of
// the methods of s.
func (s *Scanner) Object(f func(name string) error) error {
	return s.list('{', '}', "an object", func() error {
		if err := s.want('"', "a name in quotes"); err != nil {
			return err
		}
		name, err := s.text()
		if err != nil {
			return err
		}
		if err := s.want(':', "a colon"); err != nil {
			return err
		}
		return f(name)
	})
}

// Array reads an array and calls f for each element in turn. f must read the element, whole.
func (s *Scanner) Array(f func() error) error { return s.list('[', ']', "an array", f) }

// list reads what objects and arrays have in common: brackets, and commas between the elements.
func (s *Scanner) list(open, end byte, what string, element func() error) error {
	if err := s.want(open, what); err != nil {
		return err
	}
	for first := true; ; first = false {
		ended, err := s.skipIf(end)
		if ended || err != nil {
			return err
		}
		if !first {
			if err := s.want(',', "a comma or the end of "+what[strings.IndexByte(what, ' ')+1:]); err != nil {
				return err
			}
		}
		if err := element(); err != nil {
			return err
		}
	}
}

// Kind returns the kind of the value that comes next, by its first byte, and consumes only the white
// space before it. It takes anything else for a number; reading that as a Value then fails.
func (s *Scanner) Kind() (Kind, error) {
	switch c, err := s.next(); {
	case err == io.EOF:
		return Number, nil
	case err != nil:
		return "", err
	case c == '"':
		return Text, nil
	case c == '{', c == '[':
		return Compound, nil
	case c == 'n':
		return Null, nil
	case c == 't', c == 'f':
		return Boolean, nil
	}
	return Number, nil
}

// AtArray reports whether an object or array, of which Kind must just have reported Compound, is an array.
func (s *Scanner) AtArray() bool { return s.buf[0] == '[' }

// Value reads a string, number, boolean or null. Of an object or array it returns the kind and reads
// nothing: the caller goes on with Object or Array, or gives up.
func (s *Scanner) Value() (Value, error) {
	kind, err := s.Kind()
	switch {
	case err != nil || kind == Compound:
		return Value{Kind: kind}, err
	case kind == Text:
		s.skip(1)
		t, err := s.text()
		return Value{Text, t}, err
	}
	return s.literal()
}

// literal reads null, true, false or a number, up to the next delimiter.
func (s *Scanner) literal() (Value, error) {
	begin := s.at
	if s.lenient && (len(s.buf) == 0 || strings.IndexByte("-0123456789tfn", s.buf[0]) < 0) {
		return Value{}, s.expected("a value")
	}
	var l []byte
	for {
		if _, err := s.peek(1); err == io.EOF {
			break
		} else if err != nil {
			return Value{}, err
		}
		n := bytes.IndexAny(s.buf, " \t\r\n,:{}[]\"")
		piece := s.buf
		if n >= 0 {
			piece = s.buf[:n]
		}
		if err := s.holds(len(piece)); err != nil {
			return Value{}, err
		}
		l = append(l, piece...)
		if s.skip(len(piece)); n >= 0 {
			break
		}
	}
	switch string(l) {
	case "null":
		return Value{Kind: Null}, nil
	case "true", "false":
		return Value{Boolean, string(l)}, nil
	}
	if !s.lenient && !json.Valid(l) { // no other literal is left than a number
		s.at = begin
		return Value{}, s.expected("a value")
	}
	return Value{Number, string(l)}, nil
}

// End reads to the end of the text, and refuses anything but white space.
func (s *Scanner) End() error {
	if _, err := s.next(); err != io.EOF {
		if err == nil {
			err = s.expected("nothing after the object")
		}
		return err
	}
	return nil
}

// expected is the error for malformed JSON at the current byte.
func (s *Scanner) expected(what string) error {
	switch {
	case s.lenient && len(s.buf) == 0:
		return io.ErrUnexpectedEOF
	case s.lenient:
		return fmt.Errorf("the answer is not JSON: unexpected %q", s.buf[0])
	case s.at == 0 && len(s.buf) == 0:
		return imagegen.Invalid("the request body is empty; send a JSON object")
	case s.at == 0 && s.buf[0] == "\ufeff"[0]:
		return imagegen.Invalid("the JSON body begins with a byte order mark; send it without one, as plain UTF-8")
	}
	return imagegen.Invalid("the JSON body is malformed at byte %d: expected %s", s.at, what)
}

// next skips white space and returns the byte behind it, which is not consumed. io.EOF: there is none.
func (s *Scanner) next() (byte, error) {
	for {
		if _, err := s.peek(1); err != nil {
			return 0, err
		}
		if c := s.buf[0]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, nil
		}
		s.skip(1)
	}
}

// skipIf skips white space and then c, if it comes next; it reports whether it did. The end of the text
// is not an error here: a caller that wants c says what is missing.
func (s *Scanner) skipIf(c byte) (bool, error) {
	got, err := s.next()
	if err == io.EOF || err == nil && got != c {
		return false, nil
	}
	if err == nil {
		s.skip(1)
	}
	return err == nil, err
}

// want is take of something that must come; what names it in the message.
func (s *Scanner) want(c byte, what string) error {
	there, err := s.skipIf(c)
	if err == nil && !there {
		err = s.expected(what)
	}
	return err
}

// peek reads until there are n bytes in buf, and returns them; with an error those that come before it. Afterwards the
// former bytes of buf are overwritten, so nothing may keep a part of it across a peek. n is small. io.EOF: nothing more
// comes.
func (s *Scanner) peek(n int) ([]byte, error) {
	for len(s.buf) < n {
		if s.r == nil {
			return s.buf, io.EOF
		}
		kept := copy(s.room, s.buf)
		read, err := s.r.Read(s.room[kept:])
		if s.buf = s.room[:kept+read]; read == 0 && err != nil {
			return s.buf, err
		}
	}
	return s.buf[:n], nil
}

func (s *Scanner) skip(n int) { s.buf, s.at = s.buf[n:], s.at+int64(n) }

// holds asks keep for n bytes that are about to be held.
func (s *Scanner) holds(n int) error {
	if s.keep == nil {
		return nil
	}
	return s.keep(int64(n))
}
