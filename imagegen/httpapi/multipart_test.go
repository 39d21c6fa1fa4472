package httpapi_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/jpeg"
	"io"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
)

func TestFormWithoutFiles(t *testing.T) {
	s := serve(t, httpapi.Options{})
	g := s.accepted(s.postForm(foxForm(part{name: "n", value: "2"}, part{name: "quality", value: "low"},
		part{name: "async", value: "0"}, part{name: "user", value: "u"}, part{name: "response_format",
			value: "url"})...), http.StatusOK)
	s.is.Equal(g.N, 2)
	s.is.Equal(g.Size, "64x48")
	s.is.Equal(g.RequestedQuality, "low")
	s.is.Equal(g.ReferenceCount, 0)
	for _, async := range []string{"1", "true"} {
		s.accepted(s.postForm(foxForm(part{name: "async", value: async})...), http.StatusAccepted)
	}
	s.accepted(s.postForm(foxForm(part{name: "async", value: "false"})...), http.StatusOK)
}

// Files may come before the text, under any of the names, as any type.
func TestFormWithFiles(t *testing.T) {
	s := serve(t, httpapi.Options{})
	parts := []part{
		{name: "reference_image", file: "a.png", value: picture(30, 30)},
		{name: "reference_image", file: "b.txt", value: picture(31, 30)},
		{name: "reference_image[]", file: "../c", value: picture(32, 30)},
		{name: "image", file: `d\".png`, value: picture(33, 30)},
		{value: picture(34, 30), header: textproto.MIMEHeader{
			"Content-Disposition": {`form-data; name="image[]"; filename*=UTF-8''%e7%8b%90.webp`},
			"Content-Type":        {"text/html"}}},
		{name: "image", file: "fox.jpg", value: jpegOf(30, 30)},
		{name: "image", file: "fox.png", value: webp},                   // the bytes count
		{name: "reference_image", file: noName},                         // an unchosen file of an HTML form
		{name: "reference_image", file: noName, value: picture(35, 30)}, // without a name, but chosen
	}
	g := s.accepted(s.postForm(append(parts, foxForm()...)...), http.StatusOK)
	s.is.Equal(g.ReferenceCount, 8)
}

func jpegOf(w, h int) string {
	var b strings.Builder
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, w, h)), nil); err != nil {
		panic(err)
	}
	return b.String()
}

// webp is the smallest lossless WebP image.
const webp = "RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"

// Of a field that was left empty, an HTML form sends a file without name and bytes, whatever the field.
func TestFormWithUnchosenFiles(t *testing.T) {
	s := serve(t, httpapi.Options{})
	var parts []part
	for _, name := range []string{"model", "prompt", "size", "quality", "n", "async", "user", "response_format",
		"reference_image", "image[]", "output_format", "output_compression", "background", "seed", "max_credits",
		"mask"} {
		parts = append(parts, part{name: name, file: noName})
	}
	g := s.accepted(s.postForm(append(parts, foxForm()...)...), http.StatusOK) // a text may come yet
	s.is.Equal(g.Size, "64x48")
	s.is.Equal(g.ReferenceCount, 0)
	message := s.refused(s.postForm(parts...), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	s.is.True(strings.Contains(message, "model is required"))
}

func TestFormRefusals(t *testing.T) {
	s := serve(t, httpapi.Options{})
	file := func(value string) part { return part{name: "reference_image", file: "fox.png", value: value} }
	for name, c := range map[string]struct {
		parts []part
		says  string
	}{
		"no parts": {nil, "model is required"},
		"no prompt": {[]part{{name: "model", value: "fake-1"}, file(picture(30, 30))},
			"prompt is required"},
		"n a word": {foxForm(part{name: "n", value: "two"}),
			`n must be an integer, such as 2; got "two"`},
		"n zero":            {foxForm(part{name: "n", value: "0"}), "from 1 to 4; got 0"},
		"n with a zero":     {foxForm(part{name: "n", value: "02"}), "n must be an integer"},
		"n with a sign":     {foxForm(part{name: "n", value: "+2"}), "n must be an integer"},
		"n with a space":    {foxForm(part{name: "n", value: "2 "}), "n must be an integer"},
		"n empty":           {foxForm(part{name: "n", value: ""}), "n must be an integer"},
		"n a fraction":      {foxForm(part{name: "n", value: "1.0"}), `got "1.0"`},
		"n five":            {foxForm(part{name: "n", value: "5"}), "from 1 to 4; got 5"},
		"async yes":         {foxForm(part{name: "async", value: "yes"}), `true, false, 1, 0; got "yes"`},
		"async empty":       {foxForm(part{name: "async", value: ""}), "true, false, 1, 0"},
		"async in capitals": {foxForm(part{name: "async", value: "True"}), "true, false, 1, 0"},
		"model unknown": {[]part{{name: "model", value: "nope"}, {name: "prompt", value: "a fox"}},
			`"nope"; offered: fake-1`},
		"model empty": {[]part{{name: "model", value: ""}, {name: "prompt", value: "a fox"}},
			"model is required"},
		"prompt blank": {[]part{{name: "model", value: "fake-1"}, {name: "prompt", value: " "}},
			"prompt is required"},
		"prompt too long": {[]part{{name: "model", value: "fake-1"},
			{name: "prompt", value: strings.Repeat("x", 32001)}}, "32001 characters; the limit is 32000"},
		"size a word": {[]part{{name: "model", value: "fake-1"}, {name: "prompt", value: "a fox"},
			{name: "size", value: "big"}}, "size must be"},
		"quality unknown": {foxForm(part{name: "quality", value: "best"}),
			`auto, low, medium, high; got "best"`},
		"quality empty": {foxForm(part{name: "quality", value: ""}), "auto, low, medium, high"},
		"size twice":    {foxForm(part{name: "size", value: "64x48"}), "size was sent twice"},
		"n twice": {foxForm(part{name: "n", value: "1"}, part{name: "n", value: "1"}),
			"n was sent twice"},
		"async twice": {foxForm(part{name: "async", value: "0"}, part{name: "async", value: "0"}),
			"async was sent twice"},
		"quality twice": {foxForm(part{name: "quality", value: "auto"},
			part{name: "quality", value: "auto"}), "quality was sent twice"},
		"prompt twice": {foxForm(part{name: "prompt", value: "a fox"}), "prompt was sent twice"},
		"model twice":  {foxForm(part{name: "model", value: "fake-1"}), "model was sent twice"},
		"unknown":      {foxForm(part{name: "cfg_scale", value: "7"}), `unknown field "cfg_scale"`},
		"unknown, with a nearest": {foxForm(part{name: "reference_img", value: "x"}),
			"nearest known one is reference_image"},
		"unknown file": {foxForm(part{name: "images", file: "m.png", value: picture(30, 30)}),
			`unknown field "images"; the nearest known one is reference_image`},
		"a reference with a number": {foxForm(part{name: "image[0]", file: "m.png", value: picture(30, 30)}),
			`unknown field "image[0]"; the nearest known one is reference_image`},
		"unknown file, unchosen": {foxForm(part{name: "images", file: noName}), `unknown field "images"`},
		"no name": {
			foxForm(part{header: textproto.MIMEHeader{"Content-Disposition": {"form-data"}}}), "Content-Disposition"},
		"no disposition": {foxForm(part{header: textproto.MIMEHeader{"X": {"y"}}}), "Content-Disposition"},
		"an attachment": {
			foxForm(part{header: textproto.MIMEHeader{"Content-Disposition": {`attachment; name="n"`}}}),
			"Content-Disposition"},
		"text as a file": {foxForm(part{name: "quality", file: "q.txt", value: "low"}),
			"quality must be text"},
		"text as an unnamed file": {foxForm(part{name: "quality", file: noName, value: "low"}),
			"quality must be text"},
		"text in base64": {foxForm(part{value: "bG93",
			header: textproto.MIMEHeader{"Content-Disposition": {`form-data; name="quality"`},
				"Content-Transfer-Encoding": {"base64"}}}), `"quality" has the Content-Transfer-Encoding "base64"`},
		"text in another charset": {foxForm(part{value: "low",
			header: textproto.MIMEHeader{"Content-Disposition": {`form-data; name="quality"`},
				"Content-Type": {"text/plain; charset=utf-7"}}}), "utf-7"},
		"a file as text": {foxForm(part{name: "reference_image", value: picture(30, 30)}),
			"reference_image must be a file"},
		"another name as text": {foxForm(part{name: "image[]", value: "x"}), "image[] must be a file"},
		"a third name as text": {foxForm(part{name: "image", value: "x"}), "image must be a file"},
		"a fourth name as text": {foxForm(part{name: "reference_image[]", value: "x"}),
			"reference_image[] must be a file"},
		"prompt no UTF-8": {[]part{{name: "model", value: "fake-1"}, {name: "prompt", value: "a fo\xff"}},
			"prompt is not valid UTF-8"},
		"much text": {foxForm(part{name: "user", value: strings.Repeat("x", 1<<20)}),
			"1048576 bytes"},
		"an empty file": {foxForm(file(picture(30, 30)), file("")),
			`reference_image 2 ("fox.png") is empty`},
		"a text file": {foxForm(file("a fox")),
			`reference_image 1 ("fox.png") is not a PNG, JPEG or WebP`},
		"a file without a name":   {foxForm(part{name: "image", file: noName, value: "x"}), `image 1 ("")`},
		"a GIF":                   {foxForm(file("GIF89a\x01\x00\x01\x00\x00\x00\x00;")), "is not a PNG"},
		"a BMP":                   {foxForm(file("BM" + strings.Repeat("\x00", 64))), "is not a PNG"},
		"an SVG":                  {foxForm(file("<svg xmlns='http://www.w3.org/2000/svg'/>")), "is not a PNG"},
		"the beginning of a JPEG": {foxForm(file("\xff\xd8\xff")), "cannot be used: the image is not whole"},
		"the beginning of a WebP": {foxForm(file("RIFF\x04\x00\x00\x00WEBP")), "is not a PNG"},
		"a header of another kind": {foxForm(file(strings.Replace(picture(30, 30), "IHDR", "IHDX", 1))),
			"cannot be used: the image is not whole"},
		"a header cut short": {foxForm(file(picture(30, 30)[:25])), "cannot be used: the image is not whole"},
		"65 parts": {foxForm(slices.Repeat([]part{{name: "image", file: noName}}, 62)...),
			"more than 64 parts"},
		"a name with a long argument": {foxForm(part{name: strings.Repeat("x", 5000), value: ""}), "unknown field"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			message := s.refused(s.postForm(c.parts...), http.StatusBadRequest, imagegen.CodeInvalidRequest)
			if !strings.Contains(message, c.says) {
				t.Errorf("got %q; want %q in it", message, c.says)
			}
			is.True(len(message) < 600)
		})
	}
	s.untouched()
}

func TestFormIsMalformed(t *testing.T) {
	s := serve(t, httpapi.Options{})
	contentType, whole := formOf(foxForm(part{name: "reference_image", file: "a.png", value: picture(300, 300)})...)
	for cut := range len(whole) - 3 { // without the line break it is whole, see below
		s.refused(s.post(whole[:len(whole)-3-cut], "Content-Type", contentType), http.StatusBadRequest,
			imagegen.CodeInvalidRequest)
	}
	for _, body := range []string{"", " ", "--", strings.Repeat("x", 10_000), "--b\r\n\r\n", "--b\r\n" +
		strings.Repeat("A: b\r\n", 20_000)} {
		s.refused(s.post(body, "Content-Type", "multipart/form-data; boundary=b"), http.StatusBadRequest,
			imagegen.CodeInvalidRequest)
	}
	s.refused(s.post(whole+strings.Repeat("x", 100_000), "Content-Type", contentType), http.StatusBadRequest,
		imagegen.CodeInvalidRequest)
	s.untouched()
	s.accepted(s.post(whole+"an epilogue", "Content-Type", contentType), http.StatusOK)
	s.accepted(s.post(strings.TrimSpace(whole), "Content-Type", contentType), http.StatusOK)
}

// The limit of a file is inclusive, and counted in bytes whatever the picture.
func TestFileOfFiftyMiB(t *testing.T) {
	s := serve(t, httpapi.Options{})
	const filler = "FILLER" // stands for what follows the end of a PNG, which is ignored
	contentType, form := formOf(foxForm(part{name: "image", file: "big.png", value: picture(30, 30) + filler})...)
	before, after, _ := strings.Cut(form, filler)
	post := func(size int64) answer {
		zeros := io.LimitReader(readerFunc(func(p []byte) (int, error) { return len(p), nil }),
			size-int64(len(picture(30, 30))))
		body := io.MultiReader(strings.NewReader(before), zeros, strings.NewReader(after))
		return s.send(s.request(http.MethodPost, generations, body, "Content-Type", contentType))
	}
	s.is.Equal(s.accepted(post(50<<20), http.StatusOK).ReferenceCount, 1)
	message := s.refused(post(50<<20+1), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	s.is.True(strings.Contains(message, `image 1 ("big.png") is larger than 52428800 bytes`))
}

func TestBodyLargerThanAllFiles(t *testing.T) {
	s := serve(t, httpapi.Options{})
	contentType, body := formOf(foxForm()...)
	r := s.request(http.MethodPost, generations, strings.NewReader(body), "Content-Type", contentType, "Expect",
		"100-continue")
	r.ContentLength = 16*50<<20 + 1<<20 + 1 // announced, and so refused before a byte is read
	s.is.True(strings.Contains(s.refused(s.send(r), 400, imagegen.CodeInvalidRequest), fmt.Sprint(r.ContentLength-1)))
}

// The limit of pixels is inclusive. What is beyond it is known by the header, and never decoded.
func TestPixelLimit(t *testing.T) {
	s := serve(t, httpapi.Options{})
	send := func(w, h uint32) answer {
		return s.postForm(foxForm(part{name: "image", file: "a.png", value: pngHeader(w, h)})...)
	}
	s.is.Equal(s.accepted(send(10_000, 10_000), http.StatusOK).ReferenceCount, 1)
	message := s.refused(send(10_001, 10_000), 400, imagegen.CodeInvalidRequest)
	s.is.True(strings.Contains(message, "10001 x 10000 pixels; the limit is 100 million"))
	message = s.refused(send(0, 6), 400, imagegen.CodeInvalidRequest)
	s.is.True(strings.Contains(message, `image 1 ("a.png")`))
}

// pngHeader is a PNG of which the pixels are only announced.
func pngHeader(w, h uint32) string {
	ihdr := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	ihdr = append(ihdr, 8, 0, 0, 0, 0) // 8 bits of grey
	file := []byte("\x89PNG\r\n\x1a\n")
	for _, chunk := range []string{"IHDR" + string(ihdr), "IDATx\x9c", "IEND"} {
		file = append(binary.BigEndian.AppendUint32(file, uint32(len(chunk)-4)), chunk...)
		file = binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE([]byte(chunk)))
	}
	return string(file)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
