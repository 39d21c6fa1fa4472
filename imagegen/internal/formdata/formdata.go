// Package formdata reads multipart/form-data as it comes: no file is held in memory, and a body that is
// too large, too slow, or ends early is refused with a message that says so. Read walks through the
// parts; Steady enforces the pace of any body, also of one that is not a form.
package formdata

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	// MaxBytes bounds a body: all the reference images that there can be, and 1 MiB for the texts and
	// the headers of the parts.
	MaxBytes = imagegen.MaxReferences*imagegen.MaxReferenceBytes + 1<<20
	// MaxText bounds all text parts of a form together.
	MaxText = 1 << 20

	maxParts    = 64
	maxEpilogue = 64 << 10
	// maxPartHeader bounds what precedes the content of a part, from the end of the previous one on:
	// multipart.Reader would hold up to 10 MiB of it in memory.
	maxPartHeader = 64 << 10
	// ReadSize is how much is read at once: multipart.Reader asks for 4 KiB, each of which would otherwise
	// be a system call and a new deadline. Read takes as much memory.
	ReadSize = 64 << 10
)

// Part is one part of a form; it can be read until the next one is asked for.
type Part struct {
	io.Reader
	Name     string
	File     bool   // it was sent as a file
	FileName string // without directories; "" if it has none
}

// Read hands the parts of a body to take, in turn, up to the first error of take, which it returns. What
// take leaves of a part is skipped. An ErrInvalidRequest means that a limit is exceeded or that a part
// cannot be used; any other error, that the body cannot be read or ended early.
func Read(r io.Reader, boundary string, take func(Part) error) error {
	body := bufio.NewReaderSize(r, ReadSize)
	in := &between{Reader: io.MultiReader(body, strings.NewReader("\r\n"), endsEarly{})}
	parts := multipart.NewReader(in, boundary)
	for n := 1; ; n++ {
		in.left = maxPartHeader
		next, err := parts.NextPart()
		if err != nil && in.left <= 0 {
			return imagegen.Invalid("the header of a part is longer than %d bytes", maxPartHeader)
		}
		in.left = math.MaxInt
		if err == io.EOF {
			return drain(body)
		}
		if err != nil {
			return err
		}
		if n > maxParts {
			return imagegen.Invalid("the form has more than %d parts", maxParts)
		}
		part, err := partOf(next)
		if err != nil {
			return err
		}
		if err := take(part); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, next); err != nil { // the rest of a part does not count for maxPartHeader
			return err
		}
	}
}

// between is a body that fails once more than left bytes were read of it. Read sets left for each part:
// small while multipart.Reader looks for the next one, and without limit for its content.
type between struct {
	io.Reader
	left int
}

func (b *between) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.Reader.Read(p)
	b.left -= n
	return n, err
}

// endsEarly is read behind the end of a body. Without it multipart.Reader takes a body that ends within
// the header of a part for a complete one, and the part would be dropped silently. The line break in
// front of it completes a closing boundary that has none.
type endsEarly struct{}

func (endsEarly) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// drain reads what follows the closing boundary: net/http notices a caller who hangs up only once the
// body has been read to its end.
func drain(body io.Reader) error {
	n, err := io.Copy(io.Discard, io.LimitReader(body, maxEpilogue+1))
	if n > maxEpilogue {
		return imagegen.Invalid("more than %d bytes follow the end of the form", maxEpilogue)
	}
	return err
}

// partOf returns the part with its name, which it must have, and refuses one that plain refuses.
func partOf(p *multipart.Part) (Part, error) {
	disposition, parameters, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	name := parameters["name"]
	if err != nil || disposition != "form-data" || name == "" {
		return Part{},
			imagegen.Invalid("each part needs a header such as Content-Disposition: form-data; name=\"prompt\"")
	}
	_, file := parameters["filename"]
	// A name in another character set than UTF-8 is left out of the parameters, and is not needed.
	file = file || strings.Contains(strings.ToLower(p.Header.Get("Content-Disposition")), "filename*=")
	part := Part{Reader: p, Name: name, File: file, FileName: p.FileName()}
	return part, part.plain(p.Header)
}

// plain refuses a part that would have to be decoded: taken as it is, it would mean something else.
func (p *Part) plain(h textproto.MIMEHeader) error {
	switch encoding := h.Get("Content-Transfer-Encoding"); strings.ToLower(encoding) {
	case "", "7bit", "8bit", "binary": // multipart.Reader decodes quoted-printable, and hides that it was
	default:
		return imagegen.Invalid("the part %.40q has the Content-Transfer-Encoding %.40q; send its bytes as they are",
			p.Name, encoding)
	}
	contentType := h.Get("Content-Type")
	if p.File || contentType == "" {
		return nil
	}
	_, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || !slices.Contains(charsets, strings.ToLower(parameters["charset"])) {
		return imagegen.Invalid("the part %.40q must be UTF-8, with a Content-Type that says so or none; got %.80q",
			p.Name, contentType)
	}
	return nil
}

// charsets are those that a text may declare. Some clients declare ISO-8859-1 or Windows-1252 for
// everything, although they send ASCII or UTF-8; a text that really has other characters in one of these
// is hardly ever valid UTF-8, and is refused as such later.
var charsets = []string{"", "utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "iso-8859-15", "windows-1252"}

// Chosen reports whether somebody chose a file: for a field that was left empty, an HTML form sends a
// file without name and bytes. It must be called before the part is read; no byte is lost by it.
func (p *Part) Chosen() (bool, error) {
	var first [1]byte
	n, err := io.ReadFull(p, first[:])
	if err != nil && err != io.EOF {
		return false, err
	}
	p.Reader = io.MultiReader(bytes.NewReader(first[:n]), p.Reader)
	return n > 0 || p.FileName != "", nil
}
