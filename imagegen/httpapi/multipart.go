package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	// referenceName is the part that the specification names.
	referenceName = "reference_image"
	maxParts      = 64
	maxEpilogue   = 64 << 10
	// maxPartHeader bounds what stands before the first part, and between one and the content of the
	// next: multipart.Reader holds up to 10 MiB of it in memory.
	maxPartHeader = 64 << 10
)

// isReference reports whether a part of this name is a file: the specification's name, and what
// other services and PHP call it.
func isReference(name string) bool {
	return slices.Contains([]string{referenceName, referenceName + "[]", "image", "image[]"}, name)
}

// upload collects the parts of a form. Files go straight to the engine's spool.
type upload struct {
	form
	engine *imagegen.Engine
	files  []*imagegen.Upload
	text   int64 // bytes of text that may still come
}

func (a *api) readMultipart(x *exchange, boundary string) (q imagegen.GenerateRequest, err error) {
	body, err := x.body(maxMultipart)
	if err != nil {
		return q, err
	}
	u := &upload{engine: a.engine, text: maxText}
	if err := u.read(x.request.Context(), body, boundary); err != nil {
		u.discard()
		return q, bodyError(err)
	}
	for _, f := range u.files {
		u.request.References = append(u.request.References, f)
	}
	return u.request, nil
}

func (u *upload) discard() {
	for _, f := range u.files {
		f.Discard()
	}
}

func (u *upload) read(ctx context.Context, body io.Reader, boundary string) error {
	in := &between{Reader: io.MultiReader(body, strings.NewReader("\r\n"), endsEarly{})}
	parts := multipart.NewReader(in, boundary)
	for n := 1; ; n++ {
		in.left = maxPartHeader
		part, err := parts.NextPart()
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
		if err := u.add(ctx, part); err != nil {
			return err
		}
	}
}

// between is a body that ends early unless somebody allows for more of it.
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

// endsEarly stands behind a body. Without it multipart.Reader takes a body that ends within the
// header of a part for a whole one, and the part would be dropped in silence. The line break before
// it is for a closing boundary that has none.
type endsEarly struct{}

func (endsEarly) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// drain reads what stands behind the closing boundary: only from the end of the body on does
// net/http notice a caller that hangs up.
func drain(body io.Reader) error {
	n, err := io.Copy(io.Discard, io.LimitReader(body, maxEpilogue+1))
	if n > maxEpilogue {
		return imagegen.Invalid("more than %d bytes follow the end of the form", maxEpilogue)
	}
	return err
}

func (u *upload) add(ctx context.Context, part *multipart.Part) error {
	disposition, parameters, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	name := parameters["name"]
	if err != nil || disposition != "form-data" || name == "" {
		return imagegen.Invalid("each part needs a header such as Content-Disposition: form-data; name=\"prompt\"")
	}
	_, isFile := parameters["filename"]
	switch {
	case isReference(name) && isFile:
		return u.addFile(ctx, name, part)
	case isReference(name):
		return imagegen.Invalid("%s must be a file: its part needs a filename", name)
	case isFile:
		if _, err := u.find(name, referenceName); err != nil {
			return err
		}
		return imagegen.Invalid("%s must be text, but was sent as a file", name)
	}
	return u.addText(name, part)
}

func (u *upload) addText(name string, part io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(part, u.text+1))
	if err != nil {
		return err
	}
	if u.text -= int64(len(b)); u.text < 0 {
		return imagegen.Invalid("the text parts of the form are larger than %d bytes", maxText)
	}
	if !utf8.Valid(b) {
		return imagegen.Invalid("%s is not valid UTF-8", name)
	}
	return u.setText(name, string(b))
}

// addFile spools one reference image. An HTML form sends a file that was not chosen as one without
// name and bytes.
func (u *upload) addFile(ctx context.Context, name string, part *multipart.Part) error {
	var first [1]byte
	n, err := io.ReadFull(part, first[:])
	if err != nil && err != io.EOF {
		return err
	}
	if n == 0 && part.FileName() == "" {
		return nil
	}
	if len(u.files) == imagegen.MaxReferences {
		return imagegen.Invalid("more than %d reference images were sent", imagegen.MaxReferences)
	}
	which := fmt.Sprintf("%s %d (%s)", name, len(u.files)+1, shown(part.FileName()))
	f, err := u.engine.Stage(ctx, io.MultiReader(bytes.NewReader(first[:n]), part), which)
	if err != nil {
		return err
	}
	u.files = append(u.files, f)
	return nil
}
