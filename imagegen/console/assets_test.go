package console_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

var static = regexp.MustCompile(`"(/console/static/[^"]+)"`)

func TestStatic(t *testing.T) {
	s := open(t)
	v := s.visitor()
	found := static.FindAllStringSubmatch(v.get("signin").body, -1)
	s.is.True(len(found) >= 4)
	for _, f := range found {
		plain := v.get(f[1])
		s.is.Equal(plain.StatusCode, http.StatusOK)
		s.is.Equal(plain.Header.Get("Cache-Control"), "public, max-age=31536000, immutable")
		s.is.Equal(plain.Header.Get("Content-Encoding"), "")
		s.is.True(plain.body != "" && plain.Header.Get("Content-Type") != "")

		zipped := v.get(f[1], "Accept-Encoding", "br, gzip")
		s.is.Equal(zipped.Header.Get("Content-Encoding"), "gzip")
		z, err := gzip.NewReader(strings.NewReader(zipped.body))
		s.is.NoErr(err)
		b, err := io.ReadAll(z)
		s.is.NoErr(err)
		s.is.Equal(string(b), plain.body)
	}
}

func TestStaticNames(t *testing.T) {
	s := open(t)
	v := s.visitor()
	css := static.FindStringSubmatch(v.get("signin").body)[1]
	version := strings.Split(css, "/")[3]
	for path, want := range map[string]int{
		"static/" + version + "/console.css":       http.StatusOK,
		"static/" + version + "/licenses/htmx.txt": http.StatusOK,
		"static/" + version + "/pico.min.css":      http.StatusOK,
		"static/" + version + "/nothing.css":       http.StatusNotFound,
		"static/" + version + "/":                  http.StatusNotFound,
		"static/" + version + "/%2e%2e/console.go": http.StatusNotFound,
		"static/0000000000000000/console.css":      http.StatusNotFound, // another version is another file
	} {
		is := is.New(t)
		is.Equal(v.get(path).StatusCode, want)
	}
}

// Each file that was made by others comes with its licence.
func TestLicences(t *testing.T) {
	s := open(t)
	v := s.visitor()
	version := strings.Split(static.FindStringSubmatch(v.get("signin").body)[1], "/")[3]
	for library, text := range map[string]string{"htmx": "Zero-Clause BSD", "pico": "MIT License"} {
		s.is.True(v.get("static/" + version + "/licenses/" + library + ".txt").has(text))
	}
}
