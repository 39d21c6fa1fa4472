package upstream

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
)

// Document is a JSON document with reference images inside, which are encoded while it is sent.
// The zero value is ready for use; a Document makes one Body. It is not safe for concurrent use.
//
// Base64 and DataURL return placeholders, so that the caller can put references anywhere into the
// value that is encoded. Body then splits the encoded text at the placeholders.
//
//	var d upstream.Document
//	body, err := d.Body(map[string]string{"image": d.DataURL(reference)})
type Document struct {
	mark       string // the beginning of every placeholder: random, so that no prompt can contain it
	references []imagegen.ProviderReference
}

// placeholderDigits is the length of a reference's number, which follows the mark.
const placeholderDigits = 4

// Base64 returns a placeholder that Body replaces by the reference's bytes in base64.
func (d *Document) Base64(r imagegen.ProviderReference) string {
	if d.mark == "" {
		d.mark = rand.Text()
	}
	d.references = append(d.references, r)
	return fmt.Sprintf("%s%0*d", d.mark, placeholderDigits, len(d.references)-1)
}

// DataURL returns a placeholder that Body replaces by the reference as a data: URL.
func (d *Document) DataURL(r imagegen.ProviderReference) string {
	return "data:" + r.MediaType + ";base64," + d.Base64(r)
}

// Body encodes v, which contains the placeholders, without escaping HTML. It fails only if v cannot be encoded, with
// an error of ClassInvalid. If v does not contain a placeholder, that reference is not sent, and there is no error.
func (d *Document) Body(v any) (*Body, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, &imagegen.ProviderError{Class: imagegen.ClassInvalid, Message: "the request could not be encoded",
			Err: err}
	}
	b := &Body{contentType: "application/json"}
	if d.mark == "" {
		b.addBytes(text.Bytes())
		return b, nil
	}
	for i, piece := range bytes.Split(text.Bytes(), []byte(d.mark)) {
		if i > 0 {
			n, err := strconv.Atoi(string(piece[:placeholderDigits]))
			if err != nil {
				return nil, err
			}
			b.addBase64(d.references[n])
			piece = piece[placeholderDigits:]
		}
		b.addBytes(piece)
	}
	return b, nil
}
