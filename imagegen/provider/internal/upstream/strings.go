package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/imagegend/imagegend/internal/jsonscan"
)

const (
	maxDepth = 64       // levels of arrays and objects
	maxText  = 64 << 10 // bytes
	maxPath  = 1 << 10  // bytes
)

// byteOrderMark is what some programs put before a text in UTF-8.
const byteOrderMark = "\ufeff"

// String is a string value within a JSON document, unescaped while it is read. It can be read
// until the iterator goes on.
type String struct {
	// Path is its place: names joined by dots, and [] for each array, as in data[].b64_json; "" if the document is
	// this string alone. It has at most 1 KiB; a document with a longer path is refused.
	Path string
	// Places are where it stands, from 0, in each of the arrays around it, the outermost first. They change when the
	// iterator goes on.
	Places []int
	// Literal is a number as it was written, or true, of which nothing can be read; "": it is a string.
	Literal string
	io.Reader
}

// Text reads the string. An error is that of reading the document, or says that the string is longer than 64 KiB.
func (s String) Text() (string, error) {
	raw, err := io.ReadAll(io.LimitReader(s, maxText+1))
	if err == nil && len(raw) > maxText {
		err = fmt.Errorf("the text at %s is longer than %d bytes", s.Path, maxText)
	}
	return string(raw), err
}

// Message reads at most the first 64 KiB of a string that is only to be shown. An error is that of reading the
// document.
func (s String) Message() (string, error) {
	raw, err := io.ReadAll(io.LimitReader(s, maxText))
	return string(raw), err
}

// Beginning returns up to n bytes that the string begins with, fewer if it is shorter or broken. Read yields them
// again.
func (s String) Beginning(n int) string {
	begin, ok := s.Reader.(characters)
	if !ok {
		return ""
	}
	bytes, _ := begin.Peek(n) // Read returns the error
	return string(bytes)
}

// Strings yields every string value of a JSON document in order, while the document arrives. The part of a string
// that is not read is skipped. If the document is not well formed, ends early, has a path that is too long or is
// nested more than 64 deep, an error is yielded last; numbers and literals are not checked closely. The names of
// members are yielded only in paths. Memory does not grow with the document: 64 KiB are buffered.
func Strings(r io.Reader) iter.Seq2[String, error] { return walk(r, false) }

// Values is Strings, but also yields every number and every true, see [String.Literal].
func Values(r io.Reader) iter.Seq2[String, error] { return walk(r, true) }

// lastWords is how long an answer is read for what it says of its use, when no more of its images are wanted.
const lastWords = 2 * time.Second

// Each calls take for each string of an answer that read, Strings or Values, yields, and returns true at the end. When
// take wants no more images, Each returns false and no error, but first goes on with the rest of the answer for up to
// two seconds: many say at their end what the work has used. If the answer cannot be read before that, or take fails,
// the error is that of [Broken], with what body began with.
func Each(ctx context.Context, body io.Reader, read func(io.Reader) iter.Seq2[String, error],
	take func(String) (wanted bool, err error)) (wanted bool, err error) {
	wanted = true
	for s, err := range read(body) {
		more := false
		if err = cmp.Or(err, ctx.Err()); err == nil {
			more, err = take(s)
		}
		switch {
		case err != nil && wanted:
			return false, Broken(ctx, quoting(body, err))
		case err != nil:
			return false, nil
		case wanted && !more:
			wanted = false
			if a, ok := body.(*answer); ok {
				defer time.AfterFunc(lastWords, func() { a.body.Close() }).Stop()
			}
		}
	}
	return wanted, nil
}

// walk is Values, or Strings if no literals are wanted.
func walk(r io.Reader, literals bool) iter.Seq2[String, error] {
	return func(yield func(String, error) bool) {
		w := &walker{yield: yield, path: make([]byte, 0, maxPath), literals: literals}
		w.in = jsonscan.Lenient(r, w.keep)
		err := w.value(0)
		if err == nil {
			err = w.in.End()
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
	errLongWord = fmt.Errorf("the JSON has a name or a number of more than %d bytes", maxText)
)

// walker reads one document by recursive descent. Each method consumes what it describes and nothing more.
type walker struct {
	in     *jsonscan.Scanner
	yield  func(String, error) bool
	path   []byte // of the value that is being read; it becomes a string only for what is yielded
	places []int  // in the arrays that are open, the outermost first
	kept   int64  // bytes of the name or number that is being read

	literals bool // yield numbers and true as well
}

// keep bounds what the scanner holds at once.
func (w *walker) keep(n int64) error {
	if w.kept += n; w.kept > maxText {
		return errLongWord
	}
	return nil
}

// value reads a value of any kind, depth levels below the outermost.
func (w *walker) value(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("the JSON is nested more than %d deep", maxDepth)
	}
	w.kept = 0
	kind, err := w.in.Kind()
	switch {
	case err != nil:
		return err
	case kind == jsonscan.Text:
		return w.text()
	case kind == jsonscan.Compound && w.in.AtArray():
		return w.array(depth)
	case kind == jsonscan.Compound:
		return w.object(depth)
	}
	v, err := w.in.Value()
	w.kept = 0
	if err == nil && w.literals && (v.Kind == jsonscan.Number || v.Text == "true") &&
		!w.yield(String{string(w.path), w.places, v.Text, strings.NewReader("")}, nil) {
		return errStop
	}
	return err
}

// text yields a string, and skips what was not read of it.
func (w *walker) text() error {
	s := w.in.Reader()
	if !w.yield(String{string(w.path), w.places, "", s}, nil) {
		return errStop
	}
	_, err := io.Copy(io.Discard, s)
	return err
}

// array reads an array. Within it, the path and the places are those of its elements.
func (w *walker) array(depth int) error {
	outer, last := len(w.path), len(w.places)
	w.places = append(w.places, -1)
	defer func() { w.path, w.places = w.path[:outer], w.places[:last] }()
	if err := w.enter("[]"); err != nil {
		return err
	}
	return w.in.Array(func() error {
		w.places[last]++
		return w.value(depth + 1)
	})
}

// object reads an object. Each name is part of the path of its value.
func (w *walker) object(depth int) error {
	outer := len(w.path)
	return w.in.Object(func(name string) error {
		defer func() { w.path = w.path[:outer] }()
		if outer > 0 {
			name = "." + name
		}
		if err := w.enter(name); err != nil {
			return err
		}
		return w.value(depth + 1)
	})
}

// enter appends a part to the path.
func (w *walker) enter(s string) error {
	if len(w.path)+len(s) > maxPath {
		return errLongPath
	}
	w.path = append(w.path, s...)
	return nil
}
