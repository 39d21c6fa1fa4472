package conformance_test

import (
	"encoding/base64"
	"net/http"
	"slices"
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
		elsewhere: []string{"imagegen/httpapi.TestFormRefusals", "imagegen/httpapi.TestPixelLimit"},
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
		elsewhere: []string{"imagegen/httpapi.TestFileOfFiftyMiB", "imagegen/httpapi.TestBodyLargerThanAllFiles"},
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
	a.form(t, append(sixteen, reference("more.png", picture(8, 6)))...).refused(t, http.StatusBadRequest, "invalid_request", `reference_image 17 ("more.png") is one too many: send at most 16`)
	same(t, a.credits(t), 4)

	a = s.start(t, settings{models: twoModels}).account(t, 10)
	two := append(sixteen[:2:2], part{name: "model", value: "cheap"}, part{name: "size", value: "64x64"})
	same(t, a.form(t, two...).is(t, http.StatusOK).object(t)["reference_count"], 2)
	a.form(t, append(two, sixteen[0])...).refused(t, http.StatusBadRequest, "invalid_request", "3 ", "2", "reference")
}
