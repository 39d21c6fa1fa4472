package httpapi

import (
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
)

// scanObject reads one JSON object whose members are no objects or arrays, and calls f for each in
// turn; f refuses a member that begins one. Package encoding/json would take what a caller cannot
// have meant: names in other cases, bytes that are no UTF-8, half a surrogate pair.
func scanObject(b []byte, f func(name string, v value) error) error {
	s := &scanner{b: b}
	if !utf8.Valid(b) {
		return imagegen.Invalid("the JSON body is not valid UTF-8")
	}
	if !s.take('{') {
		return s.expected("an object")
	}
	for first := true; !s.take('}'); first = false {
		if !first && !s.take(',') {
			return s.expected("a comma or the end of the object")
		}
		if err := s.member(f); err != nil {
			return err
		}
	}
	if s.space(); s.at < len(s.b) {
		return s.expected("nothing after the object")
	}
	return nil
}

type scanner struct {
	b  []byte
	at int
}

func (s *scanner) expected(what string) error {
	return imagegen.Invalid("the JSON body is malformed at byte %d: expected %s", s.at, what)
}

func (s *scanner) space() {
	for s.at < len(s.b) && strings.IndexByte(" \t\r\n", s.b[s.at]) >= 0 {
		s.at++
	}
}

// take skips white space and then c, if it is there.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.at == len(s.b) || s.b[s.at] != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) member(f func(string, value) error) error {
	if !s.take('"') {
		return s.expected("a name in quotes")
	}
	name, err := s.string()
	if err != nil {
		return err
	}
	if !s.take(':') {
		return s.expected("a colon")
	}
	v, err := s.value()
	if err != nil {
		return err
	}
	return f(name, v)
}

func (s *scanner) value() (value, error) {
	if s.take('"') {
		t, err := s.string()
		return value{text, t}, err
	}
	if s.take('{') || s.take('[') {
		return value{kind: compound}, nil
	}
	begin := s.at
	for s.at < len(s.b) && strings.IndexByte(" \t\r\n,:{}[]\"", s.b[s.at]) < 0 {
		s.at++
	}
	switch literal := s.b[begin:s.at]; {
	case string(literal) == "null":
		return value{kind: null}, nil
	case string(literal) == "true", string(literal) == "false":
		return value{boolean, string(literal)}, nil
	case json.Valid(literal): // what is left of JSON's literals
		return value{number, string(literal)}, nil
	}
	s.at = begin
	return value{}, s.expected("a value")
}

// string reads on from behind the opening quote.
func (s *scanner) string() (string, error) {
	begin := s.at
	for ; s.at < len(s.b); s.at++ {
		switch c := s.b[s.at]; {
		case c == '"':
			s.at++
			return string(s.b[begin : s.at-1]), nil
		case c == '\\':
			return s.escaped(begin)
		case c < ' ':
			return "", s.expected("no bare control character in a string")
		}
	}
	return "", s.expected("the end of a string")
}

// escaped reads a string that has escapes.
func (s *scanner) escaped(begin int) (string, error) {
	var t strings.Builder
	t.Write(s.b[begin:s.at])
	for s.at < len(s.b) {
		c := s.b[s.at]
		s.at++
		switch {
		case c == '"':
			return t.String(), nil
		case c < ' ':
			return "", s.expected("no bare control character in a string")
		case c != '\\':
			t.WriteByte(c)
			continue
		}
		r, ok := s.escape()
		if !ok {
			return "", s.expected("a valid escape before this")
		}
		t.WriteRune(r)
	}
	return "", s.expected("the end of a string")
}

// escape reads on from behind a backslash.
func (s *scanner) escape() (rune, bool) {
	if s.at == len(s.b) {
		return 0, false
	}
	c := s.b[s.at]
	s.at++
	if c != 'u' {
		i := strings.IndexByte(`"\/bfnrt`, c)
		if i < 0 {
			return 0, false
		}
		return rune("\"\\/\b\f\n\r\t"[i]), true
	}
	r, ok := s.hex()
	if !ok || !utf16.IsSurrogate(r) {
		return r, ok
	}
	if s.at+1 >= len(s.b) || s.b[s.at] != '\\' || s.b[s.at+1] != 'u' {
		return 0, false
	}
	s.at += 2
	low, ok := s.hex()
	r = utf16.DecodeRune(r, low)
	return r, ok && r != utf8.RuneError // half a pair
}

// hex reads four hexadecimal digits.
func (s *scanner) hex() (rune, bool) {
	if s.at+4 > len(s.b) {
		return 0, false
	}
	var r rune
	for _, c := range s.b[s.at : s.at+4] {
		i := strings.IndexByte("0123456789abcdefABCDEF", c)
		if i < 0 {
			return 0, false
		}
		if i >= 16 {
			i -= 6
		}
		r = r<<4 | rune(i)
	}
	s.at += 4
	return r, true
}
