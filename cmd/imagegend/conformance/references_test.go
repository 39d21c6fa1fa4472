package conformance_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strings"
	"testing"
)

var referenceChecks = []check{
	{
		name: "reference images",
		lines: []string{
			"spec: Generates images from a text prompt with a model chosen by the caller. A reference image may be supplied",
			"spec: **JSON** (`Content-Type: application/json`)",
			"spec: | reference_image | file | no |",
			"spec: | Reference image formats |",
			"contract: | reference files |",
			"contract: | a file's type |",
		},
		run: checkReferences,
	},
	{
		name: "how many reference images",
		lines: []string{
			"spec: | reference images | Maximum number",
			"spec: | reference_image | file | no |",
			"spec: | Reference image count |",
			"spec: The code for oversize, unsupported-format or too-many",
			"contract: | limits | 50 MB",
			"contract: | oversize, wrong type, too many",
		},
		run: checkReferenceCount,
	},
	{
		name: "reference files that are refused",
		lines: []string{
			"spec: | Reference image formats |",
			"spec: The code for oversize, unsupported-format or too-many",
			"contract: | a file's type |",
			"contract: | oversize, wrong type, too many",
		},
		run: checkRefusedReferences,
	},
	{
		name: "how large a reference image is",
		lines: []string{
			"spec: | reference_image | file | no |",
			"spec: | Reference image file size |",
			"contract: | a file's type |",
			"contract: | limits | 50 MB",
			"contract: | oversize, wrong type, too many",
		},
		run: checkReferenceSize,
	},
}

// webp is the smallest lossless WebP image.
var webp = func() []byte {
	b, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	if err != nil {
		panic(err)
	}
	return b
}()

func reference(file string, content []byte) part {
	return part{name: "reference_image", value: string(content), file: file}
}

func checkReferences(t *testing.T, s *service) {
	a := s.account(t, 20)
	for _, c := range []part{
		reference("fox.png", picture(8, 6)),
		reference("fox.jpg", photo(8, 6)),
		reference("FOX.JPEG", photo(8, 6)),
		reference("fox.webp", webp),
		reference("fox.webp", picture(8, 6)), // the bytes count, neither name nor declared type
		reference("fox", photo(8, 6)),
		{name: "reference_image", file: "fox.txt", value: string(picture(8, 6)), contentType: "text/plain"},
		{name: "reference_image[]", file: "fox.png", value: string(picture(8, 6))},
		{name: "image", file: "fox.png", value: string(picture(8, 6))},
		{name: "image[]", file: "fox.png", value: string(picture(8, 6))},
	} {
		g := a.form(t, c).is(t, http.StatusOK).object(t)
		same(t, without(g, "balance"), with(succeeded(s.url, 1), object{"reference_count": 1}))
	}
	async := a.form(t, reference("fox.png", picture(8, 6)), part{name: "async", value: "true"}).is(t, http.StatusAccepted).object(t)
	same(t, a.ended(t, async["id"]), with(succeeded(s.url, 1), object{"reference_count": 1}))
	mixed := a.form(t, reference("a", picture(8, 6)), part{name: "image", file: "b", value: string(webp)}).is(t, http.StatusOK).object(t)
	same(t, mixed["reference_count"], 2)
}

func checkReferenceCount(t *testing.T, s *service) {
	a := s.account(t, 5)
	sixteen := slices.Repeat([]part{reference("fox.png", picture(8, 6))}, 16)
	same(t, a.form(t, sixteen...).is(t, http.StatusOK).object(t)["reference_count"], 16)
	a.form(t, append(sixteen, reference("more.png", picture(8, 6)))...).refused(t, http.StatusBadRequest, "invalid_request", "16", "reference")
	same(t, a.credits(t), 4)

	a = s.start(t, settings{models: twoModels}).account(t, 10)
	two := append(sixteen[:2:2], part{name: "model", value: "cheap"}, part{name: "size", value: "64x64"})
	same(t, a.form(t, two...).is(t, http.StatusOK).object(t)["reference_count"], 2)
	a.form(t, append(two, sixteen[0])...).refused(t, http.StatusBadRequest, "invalid_request", "3 ", "2", "reference")
}

func checkRefusedReferences(t *testing.T, s *service) {
	a := s.account(t, 5)
	for name, content := range map[string]string{
		"empty.png":     "",
		"text.png":      "a fox",
		"fox.gif":       "GIF89a\x01\x00\x01\x00\x00\x00\x00;",
		"fox.bmp":       "BM" + strings.Repeat("\x00", 64),
		"fox.svg":       "<svg xmlns='http://www.w3.org/2000/svg'/>",
		"truncated.png": string(picture(8, 6)[:20]),
		"magic.jpg":     "\xff\xd8\xff",
		"fox.webp":      "RIFF\x04\x00\x00\x00WEBP",
		"damaged.png":   strings.Replace(string(picture(8, 6)), "IHDR", "IHDX", 1),
		"many.png":      string(pngHeader(10_000, 10_001)),
		"none.png":      string(pngHeader(0, 6)),
	} {
		a.form(t, reference("ok.png", picture(8, 6)), reference(name, []byte(content))).
			refused(t, http.StatusBadRequest, "invalid_request", "reference_image 2", name)
	}
	a.form(t, reference("many.png", pngHeader(10_000, 10_001))).refused(t, http.StatusBadRequest, "invalid_request", "10000", "10001", "100 million")
	a.form(t, reference("text.png", []byte("a fox"))).refused(t, http.StatusBadRequest, "invalid_request", "PNG", "JPEG", "WebP")
	same(t, a.form(t, reference("most.png", pngHeader(10_000, 10_000))).is(t, http.StatusOK).object(t)["reference_count"], 1)
	same(t, a.credits(t), 4)
}

// pngHeader is a PNG that has a header only.
func pngHeader(w, h uint32) []byte {
	ihdr := []byte("IHDR")
	ihdr = binary.BigEndian.AppendUint32(ihdr, w)
	ihdr = binary.BigEndian.AppendUint32(ihdr, h)
	ihdr = append(ihdr, 8, 0, 0, 0, 0) // 8 bits of grey
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), ihdr...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(ihdr))
}

func checkReferenceSize(t *testing.T, s *service) {
	a := s.account(t, 5)
	const most = 50 << 20
	large := append(picture(8, 6), bytes.Repeat([]byte{0}, most+1)...)
	same(t, a.form(t, reference("most.png", large[:most])).is(t, http.StatusOK).object(t)["reference_count"], 1)
	a.form(t, reference("large.png", large[:most+1])).
		refused(t, http.StatusBadRequest, "invalid_request", "reference_image 1", "large.png", "52428800")
	// A body that says that it is too large is refused before it comes.
	said := s.raw(t, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: %d\r\n\r\n",
		generationsPath, a.key, 16*most+1<<20+1))
	said.refused(t, http.StatusBadRequest, "invalid_request", fmt.Sprint(16*most+1<<20))
	same(t, a.credits(t), 4)
}
