package conformance_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

var formChecks = []check{
	{
		name: "a form without files",
		lines: []string{
			"spec: Two request encodings.",
			"spec: **JSON** (`Content-Type: application/json`)",
			"contract: | multipart |",
		},
		elsewhere: []string{"imagegen/httpapi.TestFormWithoutFiles", "imagegen/httpapi.TestFormWithUnchosenFiles"},
	},
	{
		name: "forms that are refused",
		lines: []string{
			"spec: 6. A body or parameters that are invalid give 400",
			"contract: | multipart |",
			"contract: | reference files |",
		},
		elsewhere: []string{"imagegen/httpapi.TestFormRefusals", "imagegen/httpapi.TestFormIsMalformed"},
	},
}

// part is one part of a form: a file if it has a file name.
type part struct {
	name, value string
	file        string
	contentType string
}

func (p part) header() textproto.MIMEHeader {
	disposition := `form-data; name="` + p.name + `"`
	if p.file != "" {
		disposition += `; filename="` + p.file + `"`
	}
	h := textproto.MIMEHeader{"Content-Disposition": {disposition}}
	if p.contentType != "" {
		h.Set("Content-Type", p.contentType)
	}
	return h
}

// writeForm makes a form of parts.
func writeForm(t *testing.T, parts []part) (contentType, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		to, err := w.CreatePart(p.header())
		if err == nil {
			_, err = to.Write([]byte(p.value))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.String()
}

// foxForm is a request for images with more parts; one of a name that is there replaces it.
func foxForm(more []part) []part {
	replaced := map[string]bool{}
	for _, p := range more {
		replaced[p.name] = true
	}
	var parts []part
	for _, p := range []part{{name: "model", value: "fake-1"}, {name: "prompt", value: "a fox"},
		{name: "size", value: "64x48"}} {
		if !replaced[p.name] {
			parts = append(parts, p)
		}
	}
	return append(parts, more...)
}

// send sends a body as it is.
func (a *customer) send(t *testing.T, contentType, body string) answer {
	t.Helper()
	header := []string{"Content-Type", contentType}
	if contentType == "" {
		header = nil
	}
	return a.call(t, request{method: http.MethodPost, address: generationsPath, key: a.key, header: header,
		body: strings.NewReader(body)})
}

// form sends a request for images as a form.
func (a *customer) form(t *testing.T, more ...part) answer {
	t.Helper()
	contentType, body := writeForm(t, foxForm(more))
	return a.send(t, contentType, body)
}

func picture(w, h int) []byte { return imagegentest.PNG(w, h) }
