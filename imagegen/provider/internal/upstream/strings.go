package upstream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

const (
	maxDepth = 64       // levels of arrays and objects
	maxText  = 64 << 10 // bytes
	maxPath  = 1 << 10  // bytes
	// bufferSize is how many bytes of an answer are in memory: enough for a few records of TLS,
	// which have up to 16 KiB.
	bufferSize = 64 << 10
)

// String is a string value within a JSON document, unescaped while it is read. It can be read
// until the iterator goes on.
type String struct {
	// Path is its place: names joined by dots, and [] for each array, as in data[].b64_json; "" if the document is
	// this string alone. It has at most 1 KiB; a document with a longer path is refused.
	Path string
	// Places are where it stands, from 0, in each of the arrays around it, the outermost first. They change when the
	// iterator goes on.
	Places []int
	// True says that it is not a string but the literal true, of which nothing can be read.
	True bool
	io.Reader
}

// Text reads the string, but no more than its first 64 KiB. An error is that of reading the document.
func (s String) Text() (string, error) {
	raw, err := io.ReadAll(io.LimitReader(s, maxText))
	return string(raw), err
}

// Begin returns up to n bytes that the string begins with, fewer if it is shorter or broken. Read yields them again.
func (s String) Begin(n int) string {
	begin, ok := s.Reader.(interface{ Peek(n int) ([]byte, error) })
	if !ok {
		return ""
	}
	bytes, _ := begin.Peek(n) // whoever reads on meets the error
	return string(bytes)
}

// Strings yields every string value of a JSON document in order, while the document arrives. The part of a string
// that is not read is skipped. If the document is not well formed, ends early, has a path that is too long or is
// nested more than 64 deep, an error is yielded last; numbers and literals are not checked closely. The names of
// members are yielded only in paths. Memory does not grow with the document: 64 KiB are buffered.
func Strings(r io.Reader) iter.Seq2[String, error] { return walk(r, false) }

// StringsAndFlags is Strings, but also yields every literal true, see [String.True].
func StringsAndFlags(r io.Reader) iter.Seq2[String, error] { return walk(r, true) }

// Each calls take for each string of an answer until take wants no more. It then returns false and no error, and true
// if it has come to the end. If the answer cannot be read, or take fails, the error is that of [Broken].
func Each(ctx context.Context, all iter.Seq2[String, error], take func(String) (wanted bool, err error)) (wanted bool, err error) {
	for s, err := range all {
		if err != nil || ctx.Err() != nil {
			return false, Broken(ctx, err)
		}
		if wanted, err = take(s); err != nil {
			return false, Broken(ctx, err)
		} else if !wanted {
			return false, nil
		}
	}
	return true, nil
}

// walk is StringsAndFlags, or Strings if no flags are wanted.
func walk(r io.Reader, flags bool) iter.Seq2[String, error] {
	return func(yield func(String, error) bool) {
		w := &walker{in: bufio.NewReaderSize(r, bufferSize), yield: yield, path: make([]byte, 0, maxPath), flags: flags}
		err := w.value(0)
		if err == nil {
			err = w.end()
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(String{}, err)
		}
	}
}

var (
	// errStop ends the walk when yield has returned false. Nobody outside sees it.
	errStop     = errors.New("no more is wanted")
	errLongPath = fmt.Errorf("the JSON has a path of more than %d bytes", maxPath)
)

// walker reads one document by recursive descent. Each method consumes what it describes and nothing more.
type walker struct {
	in     *bufio.Reader
	yield  func(String, error) bool
	path   []byte // of the value that is being read; it becomes a string only for what is yielded
	places []int  // in the arrays that are open, the outermost first
	flags  bool   // yield true as well
}

// value reads a value of any kind, depth levels below the outermost.
func (w *walker) value(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("the JSON is nested more than %d deep", maxDepth)
	}
	c, err := w.next()
	if err != nil {
		return err
	}
	switch c {
	case '"':
		return w.text()
	case '{':
		return w.list('}', func() error { return w.member(depth) })
	case '[':
		return w.array(depth)
	}
	if strings.IndexByte("-0123456789tfn", c) < 0 {
		return unexpected(c)
	}
	if c == 't' && w.flags && !w.yield(String{string(w.path), w.places, true, strings.NewReader("")}, nil) {
		return errStop
	}
	return w.literal()
}

// text yields a string whose opening quote has been read, and skips what was not read of it.
func (w *walker) text() error {
	s := &unescaper{in: w.in}
	if !w.yield(String{string(w.path), w.places, false, s}, nil) {
		return errStop
	}
	_, err := io.Copy(io.Discard, s)
	return err
}

// array reads an array whose opening bracket has been read. Within it, the path and the places
// are those of its elements.
func (w *walker) array(depth int) error {
	outer, last := len(w.path), len(w.places)
	w.places = append(w.places, -1)
	defer func() { w.path, w.places = w.path[:outer], w.places[:last] }()
	if err := w.enter("[]"); err != nil {
		return err
	}
	return w.list(']', func() error {
		w.places[last]++
		return w.value(depth + 1)
	})
}

// list reads elements with commas between them, up to a closing bracket.
func (w *walker) list(closing byte, element func() error) error {
	c, err := w.next()
	if err != nil || c == closing {
		return err
	}
	w.in.UnreadByte() // it follows a read
	for {
		if err := element(); err != nil {
			return err
		}
		c, err := w.next()
		if err != nil || c == closing {
			return err
		}
		if c != ',' {
			return unexpected(c)
		}
	}
}

// member reads a name and the value behind it.
func (w *walker) member(depth int) error {
	if err := w.expect('"'); err != nil {
		return err
	}
	outer := len(w.path)
	defer func() { w.path = w.path[:outer] }()
	if outer > 0 {
		if err := w.enter("."); err != nil {
			return err
		}
	}
	if err := w.name(); err != nil {
		return err
	}
	if err := w.expect(':'); err != nil {
		return err
	}
	return w.value(depth + 1)
}

// name reads a member's name behind its opening quote, and appends it to the path.
func (w *walker) name() error {
	name := &unescaper{in: w.in}
	for len(w.path) < maxPath {
		n, err := name.Read(w.path[len(w.path):maxPath])
		w.path = w.path[:len(w.path)+n]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return errLongPath
}

// enter appends to the path what stands between names.
func (w *walker) enter(s string) error {
	if len(w.path)+len(s) > maxPath {
		return errLongPath
	}
	w.path = append(w.path, s...)
	return nil
}

// literal skips the rest of a number, true, false or null, whatever it is.
func (w *walker) literal() error {
	for {
		c, err := w.in.ReadByte()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if strings.IndexByte(",]} \t\r\n", c) >= 0 {
			return w.in.UnreadByte()
		}
	}
}

// expect reads the next byte that is no space, which must be want.
func (w *walker) expect(want byte) error {
	c, err := w.next()
	if err == nil && c != want {
		err = unexpected(c)
	}
	return err
}

// next reads the next byte that is no space. The end is an error here.
func (w *walker) next() (byte, error) {
	for {
		c, err := w.in.ReadByte()
		err = unexpectedEnd(err)
		if err != nil || strings.IndexByte(" \t\r\n", c) < 0 {
			return c, err
		}
	}
}

// end makes sure that nothing but spaces follows the document.
func (w *walker) end() error {
	c, err := w.next()
	if err == io.ErrUnexpectedEOF {
		return nil
	}
	if err == nil {
		err = unexpected(c)
	}
	return err
}

func unexpected(c byte) error { return fmt.Errorf("the answer is no JSON: unexpected %q", c) }
