package upstream

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// unescaper reads a JSON string whose opening quote has been read, to its closing quote.
type unescaper struct {
	in   *bufio.Reader
	rest []byte // of an escape
	err  error
}

func (u *unescaper) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(u.rest) == 0 && u.err == nil {
		if n := u.plain(p); n > 0 || u.err != nil {
			return n, u.err
		}
		u.escape()
	}
	n := copy(p, u.rest)
	if u.rest = u.rest[n:]; n > 0 {
		return n, nil
	}
	return 0, u.err
}

// plain copies what stands before the next quote or escape, and ends at the quote.
func (u *unescaper) plain(p []byte) int {
	if _, err := u.in.Peek(1); err != nil {
		u.fail(err)
		return 0
	}
	ready, _ := u.in.Peek(min(len(p), u.in.Buffered())) // no more than is there
	n := len(ready)
	if i := bytes.IndexByte(ready, '"'); i >= 0 {
		n = i
	}
	if i := bytes.IndexByte(ready[:n], '\\'); i >= 0 {
		n = i
	}
	if n == 0 && ready[0] == '"' {
		u.in.Discard(1) // it is buffered
		u.err = io.EOF
		return 0
	}
	copy(p, ready[:n])
	u.in.Discard(n)
	return n
}

var escapes = map[byte]string{'"': `"`, '\\': `\`, '/': "/", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t"}

func (u *unescaper) escape() {
	var head [2]byte
	if _, err := io.ReadFull(u.in, head[:]); err != nil {
		u.fail(err)
		return
	}
	if head[1] == 'u' {
		u.rest = utf8.AppendRune(nil, u.unicode())
		return
	}
	text, ok := escapes[head[1]]
	if !ok {
		u.err = fmt.Errorf("the answer is no JSON: escape %q", head)
	}
	u.rest = []byte(text)
}

// unicode reads four hexadecimal digits, and the second half of a pair if it follows. A half alone
// is no character; what follows it stands for itself.
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

func (u *unescaper) hex() rune {
	var digits [4]byte
	if _, err := io.ReadFull(u.in, digits[:]); err != nil {
		u.fail(err)
		return utf8.RuneError
	}
	code, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		u.err = fmt.Errorf("the answer is no JSON: escape %q", digits)
	}
	return rune(code)
}

func (u *unescaper) fail(err error) {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	u.err = err
}
