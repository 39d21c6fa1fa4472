package conformance_test

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
)

var formChecks = []check{
	{
		name: "a form without files",
		lines: []string{
			"spec: Two request encodings.",
			"spec: **JSON** (`Content-Type: application/json`)",
			"contract: | multipart |",
		},
		run: checkFormWithoutFiles,
	},
	{
		name: "forms that are refused",
		lines: []string{
			"spec: 6. A body or parameters that are invalid give 400",
			"contract: | multipart |",
			"contract: | reference files |",
		},
		run: checkRefusedForms,
	},
}

// part is one part of a form: a file if it has a file name.
type part struct {
	name, value string
	file        string
	contentType string
}

// unchosen is the file name of a file that an HTML form offers and nobody has chosen.
const unchosen = "\x00"

func (p part) header() textproto.MIMEHeader {
	disposition := `form-data; name="` + p.name + `"`
	switch p.file {
	case "":
	case unchosen:
		disposition += `; filename=""`
	default:
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
	for _, p := range []part{{name: "model", value: "fake-1"}, {name: "prompt", value: "a fox"}, {name: "size", value: "64x48"}} {
		if !replaced[p.name] {
			parts = append(parts, p)
		}
	}
	return append(parts, more...)
}

// form sends a request for images as a form.
func (a *customer) form(t *testing.T, more ...part) answer {
	t.Helper()
	contentType, body := writeForm(t, foxForm(more))
	return a.send(t, contentType, body)
}

func picture(w, h int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Black})); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func photo(w, h int) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, w, h)), nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func checkFormWithoutFiles(t *testing.T, s *service) {
	a := s.account(t, 20)
	same(t, without(a.form(t).is(t, http.StatusOK).object(t), "balance"), succeeded(s.url, 1))
	all := a.form(t, part{name: "n", value: "2"}, part{name: "quality", value: "low"}, part{name: "async", value: "false"},
		part{name: "user", value: "me"}, part{name: "response_format", value: "url"}).is(t, http.StatusOK).object(t)
	same(t, without(all, "balance"), with(succeeded(s.url, 2), object{"requested_quality": "low"}))
	for async, status := range map[string]int{"true": http.StatusAccepted, "1": http.StatusAccepted, "0": http.StatusOK} {
		a.form(t, part{name: "async", value: async}).is(t, status)
	}
	none := a.form(t, part{name: "reference_image", file: unchosen}, part{name: "quality", file: unchosen}).is(t, http.StatusOK).object(t)
	same(t, none["reference_count"], 0)
}

func checkRefusedForms(t *testing.T, s *service) {
	a := s.account(t, 20)
	for _, c := range []struct {
		part
		mentions []string
	}{
		{part{name: "n", value: "5"}, []string{"5", "4"}},
		{part{name: "n", value: "0"}, nil},
		{part{name: "n", value: ""}, nil},
		{part{name: "n", value: "two"}, []string{"two"}},
		{part{name: "n", value: "1.0"}, []string{"1.0"}},
		{part{name: "n", value: "+2"}, nil},
		{part{name: "n", value: "02"}, nil},
		{part{name: "n", value: " 2"}, nil},
		{part{name: "async", value: "yes"}, []string{"yes", "true", "false", "1", "0"}},
		{part{name: "async", value: "True"}, nil},
		{part{name: "async", value: ""}, nil},
		{part{name: "model", value: "nope"}, []string{"nope", "fake-1"}},
		{part{name: "model", value: ""}, nil},
		{part{name: "prompt", value: " "}, nil},
		{part{name: "prompt", value: "\xff"}, nil},
		{part{name: "prompt", value: strings.Repeat("x", 32_001)}, []string{"32001", "32000"}},
		{part{name: "size", value: "big"}, nil},
		{part{name: "quality", value: "best"}, nil},
		{part{name: "prompt", value: "a fox", file: "prompt.txt"}, nil},
		{part{name: "prompt", value: "a fox", contentType: "text/plain; charset=utf-7"}, []string{"UTF-8", "utf-7"}},
	} {
		a.form(t, c.part).refused(t, http.StatusBadRequest, "invalid_request", append(c.mentions, c.name)...)
	}
	for _, name := range []string{"model", "prompt", "n", "async", "size", "quality"} {
		value := map[string]string{"model": "fake-1", "prompt": "a fox", "n": "1", "async": "false", "size": "64x48", "quality": "auto"}[name]
		a.form(t, part{name: name, value: value}, part{name: name, value: value}).
			refused(t, http.StatusBadRequest, "invalid_request", name, "twice")
	}
	for _, name := range []string{"reference_image", "reference_image[]", "image", "image[]"} {
		a.form(t, part{name: name, value: "fox.png"}).refused(t, http.StatusBadRequest, "invalid_request", name, "file")
	}
	contentType, body := writeForm(t, foxForm(nil))
	a.send(t, contentType, body[:len(body)-10]).refused(t, http.StatusBadRequest, "invalid_request") // it has no end
	a.send(t, contentType, "").refused(t, http.StatusBadRequest, "invalid_request")
	same(t, a.credits(t), 20)
}
