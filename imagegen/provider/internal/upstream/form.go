package upstream

import (
	"bytes"
	"fmt"
	"mime"
	"mime/multipart"
	"net/textproto"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// Form is a multipart form (RFC 7578) whose files are read while it is sent. The zero value is ready for use; a Form
// makes one Body. It is not safe for concurrent use.
type Form struct {
	body   Body
	text   bytes.Buffer // what is not in body yet
	writer *multipart.Writer
}

// Field adds a text field.
func (f *Form) Field(name, value string) {
	f.beginPart()
	must(f.writer.WriteField(name, value))
}

// File adds a reference image as the field name. Its file name is made up, with the suffix of its type.
func (f *Form) File(name string, r imagegen.ProviderReference) {
	f.beginPart()
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", mime.FormatMediaType("form-data", map[string]string{
		"name": name, "filename": fmt.Sprintf("reference-%d.%s", len(f.body.parts)/2+1, strings.TrimPrefix(r.MediaType,
			"image/"))}))
	header.Set("Content-Type", r.MediaType)
	_, err := f.writer.CreatePart(header)
	must(err)
	f.flush()
	f.body.addPart(r.Size, r.Open)
}

// Body ends the form. No other method may be called after it.
func (f *Form) Body() *Body {
	f.beginPart()
	must(f.writer.Close())
	f.flush()
	f.body.contentType = f.writer.FormDataContentType()
	return &f.body
}

func (f *Form) beginPart() {
	if f.writer == nil {
		f.writer = multipart.NewWriter(&f.text)
	}
}

// flush moves the text so far into the body, before a file that follows it.
func (f *Form) flush() {
	f.body.addBytes(bytes.Clone(f.text.Bytes()))
	f.text.Reset()
}

// must is for writing to memory, which does not fail.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
