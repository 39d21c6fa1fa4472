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

// Form is a multipart form (RFC 7578) whose files are read while it is sent. NewForm makes one, which makes one Body.
// It is not safe for concurrent use.
type Form struct {
	body   Body
	text   bytes.Buffer // what is not in body yet
	writer *multipart.Writer
}

// NewForm returns a form without fields.
func NewForm() *Form {
	f := &Form{}
	f.writer = multipart.NewWriter(&f.text) // into memory: no method of it fails
	return f
}

// Field adds a text field.
func (f *Form) Field(name, value string) {
	_ = f.writer.WriteField(name, value)
}

// File adds a reference image as the field name. Its file name is made up, with the suffix of its type.
func (f *Form) File(name string, r imagegen.ProviderReference) {
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", mime.FormatMediaType("form-data", map[string]string{
		"name": name, "filename": fmt.Sprintf("reference-%d.%s", len(f.body.parts)/2+1, strings.TrimPrefix(r.MediaType,
			"image/"))}))
	header.Set("Content-Type", r.MediaType)
	_, _ = f.writer.CreatePart(header)
	f.flush()
	f.body.addPart(r.Size, r.Open)
}

// Body ends the form. No other method may be called after it.
func (f *Form) Body() *Body {
	_ = f.writer.Close()
	f.flush()
	f.body.contentType = f.writer.FormDataContentType()
	return &f.body
}

// flush moves the text so far into the body, before a file that follows it.
func (f *Form) flush() {
	f.body.addBytes(bytes.Clone(f.text.Bytes()))
	f.text.Reset()
}
