package conformance_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"
)

const imageLine = "contract: | image `url` | on this service"

var imageChecks = []check{
	{
		name: "a stored image",
		lines: []string{
			"spec: | url | string | Absolute address of the stored image.",
			imageLine,
		},
		run: checkImage,
	},
	{name: "parts of an image", lines: []string{imageLine},
		elsewhere: []string{"imagegen/internal/byterange.TestHonoured", "imagegen/httpapi.TestImageRefused"}},
	{
		name:  "the origin of an image",
		lines: []string{"contract: | origin of an image |", "contract: | `provenance` |"},
		elsewhere: []string{"imagegen/engine.TestProvenance", "imagegen/internal/picture.TestStrip",
			"imagegen/internal/picture.TestProfilesOfEncodedImages"},
	},
	{name: "an image's address cannot be guessed", lines: []string{imageLine,
		"contract: Timestamps `2006-01-02T15:04:05.000Z`"}, run: checkUnguessable},
}

// images are the addresses of a generation's images.
func images(g object) (addresses []string) {
	for _, image := range g["images"].([]any) {
		addresses = append(addresses, image.(object)["url"].(string))
	}
	return addresses
}

func checkImage(t *testing.T, s *service) {
	is := is.New(t)
	a := s.account(t, 10)
	for _, address := range images(a.generated(t, object{"n": 4})) {
		image := s.call(t, request{address: address}).is(t, http.StatusOK) // no key
		etag := fmt.Sprintf(`"%x"`, sha256.Sum256(image.body))
		image.has(t, "Content-Type", "image/png", "Content-Length", fmt.Sprint(len(image.body)), "ETag", etag,
			"Content-Disposition", pattern(`inline; filename="image_\w+\.png"`), "Cache-Control",
			"public, max-age=31536000, immutable", "X-Content-Type-Options", "nosniff", "Accept-Ranges", "bytes",
			"Content-Security-Policy", "default-src 'none'; sandbox", "Referrer-Policy", "no-referrer")
		is.Equal(s.image(t, address).Bounds().Size().String(), "(64,48)")

		head := s.call(t, request{method: http.MethodHead, address: address}).is(t, http.StatusOK).
			has(t, "Content-Length", fmt.Sprint(len(image.body)), "ETag", etag)
		is.Equal(len(head.body), 0)
		s.call(t, request{address: address, header: []string{"Range", "bytes=10-19"}}).is(t, http.StatusPartialContent).
			has(t, "Content-Range", fmt.Sprintf("bytes 10-19/%d", len(image.body)), "Content-Length", "10")
		unchanged := s.call(t, request{address: address, header: []string{"If-None-Match", etag}}).
			is(t, http.StatusNotModified)
		is.Equal(len(unchanged.body), 0)
		is.Equal(s.call(t, request{address: address + "?v=1", key: "nonsense"}).status, http.StatusOK)
	}
}

// Any two addresses, also of one generation, differ in at least 128 random bits.
func checkUnguessable(t *testing.T, s *service) {
	is := is.New(t)
	a := s.account(t, 40)
	var all []string
	for range 8 {
		g := a.generated(t, object{"n": 4, "size": "16x16"})
		same(t, g["id"], pattern("gen_[0-9A-Za-z]+"))
		for i, address := range images(g) {
			id := g["images"].([]any)[i].(object)["id"].(string)
			same(t, id, pattern("image_[0-9A-Za-z]+"))
			is.True(strings.HasPrefix(address, s.url+"/"))
			is.True(!strings.Contains(address, "?"))
			all = append(all, id)
		}
	}
	characters := 0
	for i := range len(all[0]) {
		seen := map[byte]bool{}
		for _, id := range all {
			seen[id[i]] = true
		}
		if len(seen) > 8 { // of 32 ids; a random one of 32 characters takes about 20 values
			characters++
		}
	}
	is.True(characters*5 >= 128) // 5 bits each
	id := all[0]
	altered := func(i int) string {
		return id[:i] + map[bool]string{true: "B", false: "A"}[id[i] == 'A'] + id[i+1:]
	}
	imageless := a.queued(t, object{"prompt": "[fake:fail]"})["id"].(string)
	for _, other := range []string{altered(len(id) - 1), altered(len(id) - 20), id[:len(id)-1], id + "A",
		strings.ToLower(id), "x", "..", "%2e%2e%2fetc", strings.Replace(imageless, "gen_", "image_", 1) +
			strings.Repeat("A", 26)} {
		s.call(t, request{address: "/images/" + other}).refused(t, http.StatusNotFound, "notFound").
			has(t, "Content-Security-Policy", "")
	}
}
