package openai_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// part is a part of a form: a file if it has a file name.
type part struct{ name, file, value string }

func formOf(parts ...part) (contentType, body string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		h := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + p.name + `"`}}
		if p.file != "" {
			h["Content-Disposition"][0] += `; filename="` + p.file + `"`
			h.Set("Content-Type", "application/octet-stream")
		}
		to, err := w.CreatePart(h)
		if err == nil {
			_, err = io.WriteString(to, p.value)
		}
		if err != nil {
			panic(err)
		}
	}
	w.Close()
	return w.FormDataContentType(), b.String()
}

func (s *site) postForm(parts ...part) answer {
	s.Helper()
	contentType, body := formOf(append([]part{{name: "model", value: "fake-1"}, {name: "prompt", value: "a fox"},
		{name: "size", value: "64x48"}}, parts...)...)
	return s.post(edits, body, "Content-Type", contentType)
}

func files(name string, n int) (all []part) {
	for i := range n {
		all = append(all, part{name, fmt.Sprintf("%d.bin", i), picture(30+i, 30)})
	}
	return all
}

// references checks how many the latest generation had.
func (s *site) references(want int) {
	s.Helper()
	p, err := s.As(imagegentest.Alice).Generations(s.Context(), imagegen.Query{Limit: 1})
	s.is.NoErr(err)
	s.is.Equal(p.Generations[0].ReferenceCount, want)
}

func TestEditForms(t *testing.T) {
	s := serve(t, openai.Options{})
	for name, c := range map[string]struct {
		parts []part
		n     int
	}{
		"one":              {files("image", 1), 1},
		"sixteen":          {files("image[]", 16), 16},
		"under both names": {append(files("image[]", 2), files("image", 2)...), 4},
		"with more": {append(files("image", 1), part{name: "n", value: "1"}, part{name: "quality", value: "low"},
			part{name: "user", value: "u"}), 1},
	} {
		s.run(name, func(s *site) {
			s.pictures(s.made(s.postForm(c.parts...)), 1, 64, 48)
			s.references(c.n)
		})
	}
}

func TestEditFormsThatAreRefused(t *testing.T) {
	s := serve(t, openai.Options{})
	one := files("image", 1)[0]
	for name, c := range map[string]struct {
		parts []part
		param string
	}{
		"no image":       {nil, "image"},
		"seventeen":      {files("image[]", 17), "image"},
		"no picture":     {[]part{{"image", "a.png", "GIF89a"}}, "image"},
		"empty":          {[]part{{"image", "a.png", ""}}, "image"},
		"an image, text": {[]part{{name: "image", value: picture(30, 30)}}, "image"},
		"stream":         {[]part{one, {name: "stream", value: "1"}}, "stream"},
		"n":              {[]part{one, {name: "n", value: "two"}}, "n"},
		"n, a file":      {[]part{one, {"n", "n.txt", "1"}}, "n"},
		"an opaque mask": {[]part{one, {"mask", "m.png", picture(30, 30)}}, "mask"},
		"twice":          {[]part{one, {name: "prompt", value: "a wolf"}}, "prompt"},
		"unknown":        {[]part{one, {name: "strength", value: "1"}}, "strength"},
		"unknown file":   {[]part{one, {"control", "c.png", picture(30, 30)}}, "control"},
		"no UTF-8":       {[]part{one, {name: "user", value: "\xff"}}, "user"},
	} {
		s.run(name, func(s *site) {
			s.refused(s.postForm(c.parts...), http.StatusBadRequest, imagegen.CodeInvalidRequest, c.param)
			s.untouched()
		})
	}
}

// edit is a JSON request with these images, as they stand in JSON.
func edit(images ...string) string {
	return `{"model":"fake-1","images":[` + strings.Join(images, ",") + `],"prompt":"a fox","size":"64x48"}`
}

func link(uri string) string { return `{"image_url":"` + uri + `"}` }

// A photograph that lies on its side is upright, and its mask has the size in which it is displayed.
func TestEditOfATurnedImage(t *testing.T) {
	s := serve(t, openai.Options{})
	hole := image.NewNRGBA(image.Rect(0, 0, 48, 64))
	for i := 7; i < len(hole.Pix); i += 4 {
		hole.Pix[i] = 255
	}
	var mask bytes.Buffer
	s.is.NoErr(png.Encode(&mask, hole))
	for _, f := range imagegen.Formats() {
		for _, o := range imagegentest.Orientations() {
			photo := string(imagegentest.Turned(f, o, 48, 64))
			body := strings.Replace(edit(link(dataURI(photo))), "64x48", "48x64", 1)
			got := s.made(s.post(edits, body[:len(body)-1]+`,"mask":`+link(dataURI(mask.String()))+`}`))
			m, _, err := image.Decode(bytes.NewReader(got.Data[0].B64))
			s.is.NoErr(err)
			s.is.NoErr(imagegentest.Upright(m))
		}
	}
}

func TestEditJSON(t *testing.T) {
	s := serve(t, openai.Options{})
	uri := dataURI(picture(30, 30))
	sixteen := strings.Split(strings.Repeat(link(uri)+"\n", 16), "\n")[:16]
	for name, c := range map[string]struct {
		body string
		n    int
	}{
		"one":               {edit(link(uri)), 1},
		"sixteen":           {edit(sixteen...), 16},
		"escaped slashes":   {edit(link(strings.ReplaceAll(uri, "/", `\/`))), 1},
		"escaped letters":   {edit(link(`\u0064` + uri[1:])), 1},
		"lines":             {edit(link(uri[:60] + `\r\n` + uri[60:])), 1},
		"other words":       {edit(link("DATA:IMAGE/PNG;charset=utf-8;BASE64" + uri[strings.IndexByte(uri, ','):])), 1},
		"no type":           {edit(link("data:;base64" + uri[strings.IndexByte(uri, ','):])), 1},
		"images at the end": {`{"model":"fake-1","prompt":"a fox","size":"64x48","images":[` + link(uri) + `]}`, 1},
		"an escaped name":   {edit(`{"image\u005furl":"` + uri + `"}`), 1},
	} {
		s.run(name, func(s *site) {
			s.pictures(s.made(s.post(edits, c.body)), 1, 64, 48)
			s.references(c.n)
		})
	}
}

func TestEditJSONThatIsRefused(t *testing.T) {
	var spool imagegentest.CountedSpool
	s := serve(t, openai.Options{}, spool.Watch)
	uri := dataURI(picture(30, 30))
	nested := dataURI(uri)
	for name, c := range map[string]struct{ body, param string }{
		"none":               {edit(), "image"},
		"null":               {`{"model":"fake-1","prompt":"a fox","images":null}`, "image"},
		"no array":           {`{"images":"` + uri + `"}`, "images"},
		"strings":            {edit(`"` + uri + `"`), "images"},
		"seventeen":          {edit(strings.Split(strings.Repeat(link(uri)+"\n", 17), "\n")[:17]...), "image"},
		"a link":             {edit(link("https://169.254.169.254/latest")), "images"},
		"a link in capitals": {edit(link("HTTP://localhost/")), "images"},
		"a file":             {edit(link("file:///etc/passwd")), "images"},
		"stored":             {edit(`{"file_id":"file-1"}`), "images"},
		"nothing":            {edit(`{}`), "images"},
		"null within":        {edit(`{"image_url":null}`), "images"},
		"twice":              {edit(`{"image_url":"` + uri + `","image_url":"` + uri + `"}`), "images"},
		"unknown":            {edit(`{"url":"` + uri + `"}`), "images"},
		"another behind":     {edit(link(uri), `{}`), "images"},
		"no base64":          {edit(link("data:image/png;base64,!!!!")), "images"},
		"not in base64":      {edit(link("data:image/png,abc")), "images"},
		"cut base64":         {edit(link(uri[:len(uri)-3])), "images"},
		"behind the end":     {edit(link(uri + "AAAA====AAAA")), "images"},
		"empty":              {edit(link("data:image/png;base64,")), "images"},
		"nested":             {edit(link(nested)), "images"},
		"no picture":         {edit(link(dataURI("<svg/>"))), "images"},
		"a long head":        {edit(link("data:" + strings.Repeat("x", 1<<20) + ";base64,AAAA")), "images"},
		"images twice":       {`{"images":[` + link(uri) + `],"images":[` + link(uri) + `]}`, "images"},
		"a mask of no picture": {`{"model":"fake-1","prompt":"a fox","mask":` + link(dataURI("x")) + `,"images":[` +
			link(uri) + `]}`, "mask"},
		"a mask, a text":       {`{"mask":"` + uri + `","images":[` + link(uri) + `]}`, "mask"},
		"as a form's":          {`{"image":"` + uri + `"}`, "image"},
		"depth":                {`{"images":` + strings.Repeat("[", 1<<20), ""},
		"depth of a field":     {`{"prompt":` + strings.Repeat("[", 1<<20), "prompt"},
		"cut short":            {edit(link(uri))[:200], ""},
		"something behind":     {edit(link(uri)) + "{}", ""},
		"a bad field at last":  {`{"images":[` + link(uri) + `],"n":9}`, "n"},
		"an image as a prompt": {`{"prompt":"` + strings.Repeat("A", 1<<20) + `"}`, ""},
	} {
		s.run(name, func(s *site) {
			s.refused(s.post(edits, c.body), http.StatusBadRequest, imagegen.CodeInvalidRequest, c.param)
			s.untouched()
			s.is.Equal(spool.Held(), 0) // no upload is left
		})
	}
}

// An image of the maximum size is taken, and not a byte more.
func TestLargestDataURI(t *testing.T) {
	s := serve(t, openai.Options{})
	image := func(size int) io.Reader {
		p := picture(30, 30)
		// what stands behind the image is a reference's own
		return io.MultiReader(strings.NewReader(p), io.LimitReader(zeros{}, int64(size-len(p))))
	}
	body := func(size int) io.Reader {
		r, w := io.Pipe()
		go func() {
			io.WriteString(w,
				`{"model":"fake-1","prompt":"a fox","size":"64x48","images":[{"image_url":"data:image/png;base64,`)
			e := base64.NewEncoder(base64.StdEncoding, w)
			io.Copy(e, image(size))
			e.Close()
			io.WriteString(w, `"}]}`)
			w.Close()
		}()
		return r
	}
	s.pictures(s.made(s.do(http.MethodPost, edits, body(imagegen.MaxReferenceBytes))), 1, 64, 48)
	message := s.refused(s.do(http.MethodPost, edits, body(imagegen.MaxReferenceBytes+1)), http.StatusBadRequest,
		imagegen.CodeInvalidRequest, "images")
	s.is.True(strings.Contains(message, "larger than 52428800 bytes"))
	s.credits(99)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// The error names what is wrong, and what to send instead.
func TestMessagesAboutEdits(t *testing.T) {
	s := serve(t, openai.Options{})
	uri := dataURI(picture(30, 30))
	long := uri + strings.Repeat("A", 2<<20) // more than the text of a request may have
	for _, c := range []struct{ body, param, says string }{
		{edit(`"` + uri + `"`), "images",
			`images 1 must be an object such as {"image_url": "data:image/png;base64,…"}; got a string`},
		{edit("7"), "images", "images 1 must be an object"},
		{`{"image":"` + long + `"}`, "image",
			`image is a file of a form; in JSON, send images, an array such as [{"image_url"`},
		{`{"image":["` + uri + `"]}`, "image", "image is a file of a form; in JSON, send images"},
		{`{"images":"` + long + `"}`, "images", "images must be an array such as"},
		{`{"images":[` + link(uri) + `],"mask":"` + long + `"}`, "mask", "mask must be an object such as"},
		{`{"model":"fake-1","prompt":"a fox","aspect_ratio":"1:1"}`, "aspect_ratio", "the nearest known one is size"},
		{"", "", "the request body is empty"},
	} {
		s.is.True(strings.Contains(s.refused(s.post(edits, c.body), http.StatusBadRequest, imagegen.CodeInvalidRequest,
			c.param), c.says))
	}
	// many relays take reference images here
	message := s.refused(s.post(generations, `{"model":"fake-1","prompt":"a fox","image":"`+long+`"}`),
		http.StatusBadRequest, imagegen.CodeInvalidRequest, "")
	s.is.True(strings.Contains(message, "larger than 1048576 bytes; images belong to /v1/images/edits"))
	message = s.refused(s.post(edits, "--a=b--", "Content-Type", "multipart/form-data; boundary=a=b"),
		http.StatusBadRequest, imagegen.CodeInvalidRequest, "")
	s.is.True(strings.Contains(message, "must be quoted"))
	for _, images := range []part{{"images", "a.png", picture(30, 30)}, {name: "images", value: uri}} {
		message = s.refused(s.postForm(images), http.StatusBadRequest, imagegen.CodeInvalidRequest, "images")
		s.is.True(strings.Contains(message, "images is a field of JSON; in a form, send each as image or image[]"))
	}
	message = s.refused(s.post(generations, "--a--", "Content-Type", "multipart/form-data; boundary=a"),
		http.StatusBadRequest, imagegen.CodeInvalidRequest, "")
	s.is.True(strings.Contains(message, "a form belongs to /v1/images/edits"))
	s.refused(s.post("/v1/images%2Fedits", edit(link(uri))), http.StatusNotFound, imagegen.CodeNotFound, "")
	for _, path := range []string{"/v1/v1/images/edits", "/v1/chat/completions", "/v1/responses"} {
		s.is.True(strings.Contains(s.refused(s.post(path, "{}"), http.StatusNotFound, imagegen.CodeNotFound, ""),
			"here are /v1/images/generations, "))
	}
	s.untouched()
}
