// Package jsonscan reads JSON as it comes, and strictly. Package encoding/json would hold all of it in memory, and take
// what a caller cannot have meant: names in other cases, bytes that are no UTF-8, half a surrogate pair.
//
// Its errors are ErrInvalidRequest and say where the JSON is malformed, or are those of the reader.
package jsonscan

import (
	"bytes"
	"encoding/json"
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

// Value is a value: the decoded string, or the literal as it was sent. Of a compound there is only the kind.
type Value struct {
	Kind Kind
	Text string
}

// Object reads one object whose members are no objects or arrays, and calls f for each in turn; f refuses a member that
// begins one.
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
	r    io.Reader               // of what follows buf; nil: nothing does
	keep func(bytes int64) error // see New
	buf  []byte                  // what was read and is not consumed yet
	room []byte                  // for buf
	at   int64                   // bytes that are consumed
}

// New returns a Scanner of what r yields. keep is asked before names, texts and literals are held in memory, for so many
// bytes more; its error ends the reading.
func New(r io.Reader, keep func(bytes int64) error) *Scanner {
	return &Scanner{r: r, keep: keep, room: make([]byte, 32<<10)}
}

// Object reads an object and calls f for each member in turn, which reads its value.
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

// Array reads an array and calls f for each element in turn, which reads it.
func (s *Scanner) Array(f func() error) error { return s.list('[', ']', "an array", f) }

func (s *Scanner) list(open, end byte, what string, element func() error) error {
	if err := s.want(open, what); err != nil {
		return err
	}
	for first := true; ; first = false {
		ended, err := s.take(end)
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

// Kind tells what value comes next. Of a malformed one it says that it is a number.
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

// Value reads a value that is no compound. Of one that is nothing is read.
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

// literal reads null, true, false or a number.
func (s *Scanner) literal() (Value, error) {
	begin := s.at
	var l []byte
	for {
		if err := s.fill(); err == io.EOF {
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
	if !json.Valid(l) { // what is left of JSON's literals
		s.at = begin
		return Value{}, s.expected("a value")
	}
	return Value{Number, string(l)}, nil
}

// End reads to the end, and refuses what follows the value.
func (s *Scanner) End() error {
	if _, err := s.next(); err != io.EOF {
		if err == nil {
			err = s.expected("nothing after the object")
		}
		return err
	}
	return nil
}

func (s *Scanner) expected(what string) error {
	return imagegen.Invalid("the JSON body is malformed at byte %d: expected %s", s.at, what)
}

// next is the first byte that is no white space, which stays there. io.EOF.
func (s *Scanner) next() (byte, error) {
	for {
		if err := s.fill(); err != nil {
			return 0, err
		}
		if c := s.buf[0]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, nil
		}
		s.skip(1)
	}
}

// take skips white space and then c, if it is there.
func (s *Scanner) take(c byte) (bool, error) {
	got, err := s.next()
	if err == io.EOF || err == nil && got != c {
		return false, nil
	}
	if err == nil {
		s.skip(1)
	}
	return err == nil, err
}

func (s *Scanner) want(c byte, what string) error {
	there, err := s.take(c)
	if err == nil && !there {
		err = s.expected(what)
	}
	return err
}

// fill sees to it that there is something in buf. io.EOF.
func (s *Scanner) fill() error {
	for len(s.buf) == 0 {
		if s.r == nil {
			return io.EOF
		}
		n, err := s.r.Read(s.room)
		if s.buf = s.room[:n]; n == 0 && err != nil {
			return err
		}
	}
	return nil
}

func (s *Scanner) skip(n int) { s.buf, s.at = s.buf[n:], s.at+int64(n) }

func (s *Scanner) holds(n int) error {
	if s.keep == nil {
		return nil
	}
	return s.keep(int64(n))
}
