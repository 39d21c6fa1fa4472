// Package picture is everything that the engine knows about images, and nothing about
// whose they are: what their headers say, whether they are complete, how much memory
// decoding takes, and how they are converted to what was asked for.
//
// An image is complete when its structure runs to its end and every checksum outside the
// compressed data is right. Checking that takes a few microseconds for each hundred KiB,
// and no memory. Only decoding finds a fault within the compressed data.
//
// ReadHeader says what an image claims to be, Whole follows its structure while it is copied,
// Header.Decode decodes it, and a Target converts what was decoded. Images are read as streams;
// only a decoded picture is in memory, and Target.Memory and ThumbnailMemory say beforehand how
// much it takes. Nothing here keeps state between calls: all of it is safe for concurrent use.
package picture

import (
	"errors"
	"fmt"
	"io"

	"github.com/imagegend/imagegend/imagegen"
)

// ErrBroken is the error of an image that is not whole.
var ErrBroken = errors.New("the image is not whole")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrBroken, fmt.Sprintf(format, args...))
}

// structure follows the bytes of an image in one format.
type structure interface {
	// step takes the next bytes, at least one, however the stream was cut, and returns those that it did not
	// take. ended reports that the image is complete; what follows does not belong to it. Memory does not grow
	// with the image.
	step(p []byte) (rest []byte, ended bool, err error)
}

// follow returns what follows an image in a format and collects its notes.
func follow(f imagegen.Format, n *notes) structure {
	switch f {
	case imagegen.FormatPNG:
		return &pngChunks{notes: n}
	case imagegen.FormatJPEG:
		return &jpegSegments{notes: n}
	}
	return &webpChunks{notes: n}
}

// Whole returns a reader of the image at the beginning of r. It reaches its end only if
// the image is complete; bytes of r behind the image are not read, or cut off. Otherwise
// reading ends with ErrBroken or the error of r.
func Whole(r io.Reader, f imagegen.Format) *Reader {
	w := &Reader{in: r}
	w.structure = follow(f, &w.notes)
	return w
}

// Reader is what Whole returns. Its first error stays.
type Reader struct {
	in    io.Reader
	notes notes
	structure
	err error
}

// Notes are those of what was read so far.
func (w *Reader) Notes() Notes { return w.notes.Notes }

// Read implements io.Reader.
func (w *Reader) Read(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.in.Read(p)
	rest, ended, wrong := p[:n], false, error(nil)
	for len(rest) > 0 && !ended && wrong == nil {
		rest, ended, wrong = w.step(rest)
	}
	switch {
	case wrong != nil:
		w.err = wrong
	case ended:
		w.err = io.EOF
	case err == io.EOF:
		w.err = broken("it ends early")
	default:
		w.err = err
	}
	return n - len(rest), w.err
}

// field collects the bytes of a field of fixed length that may come in parts. The longest has
// twelve bytes.
type field struct {
	bytes [12]byte
	n     int
}

// fillFrom takes bytes up to the length of the field and returns the rest. done reports that the
// field is full: its bytes can be read until the next fill, which begins another field.
func (f *field) fillFrom(p []byte, length int) (rest []byte, done bool) {
	n := copy(f.bytes[f.n:length], p)
	f.n += n
	if f.n < length {
		return p[n:], false
	}
	f.n = 0
	return p[n:], true
}
