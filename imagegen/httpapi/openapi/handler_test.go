package openapi_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/httpapi/openapi"
)

func get(path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if len(header) > 0 {
		r.Header.Set(header[0], header[1])
	}
	w := httptest.NewRecorder()
	openapi.Handler("").ServeHTTP(w, r)
	return w
}

func TestDocument(t *testing.T) {
	is := is.New(t)
	a := get(openapi.DocumentPath)
	is.Equal(a.Code, http.StatusOK)
	is.Equal(a.Header().Get("Content-Type"), "application/json")
	is.True(bytes.Equal(a.Body.Bytes(), openapi.Document()))
	is.Equal(get(openapi.DocumentPath, "If-None-Match", a.Header().Get("ETag")).Code, http.StatusNotModified)
}

// The document names the address at which the service is reached, and nothing else changes.
func TestServers(t *testing.T) {
	is := is.New(t)
	read := func(b []byte) (doc map[string]any) {
		is.NoErr(json.Unmarshal(b, &doc))
		return doc
	}
	there, here := read(openapi.At(`https://images.example.com/"prefix"/`)), read(openapi.Document())
	is.Equal(there["servers"], []any{map[string]any{"url": `https://images.example.com/"prefix"`}})
	is.Equal(here["servers"], []any{map[string]any{"url": "/"}})
	there["servers"] = here["servers"]
	is.Equal(there, here)
}

// The page names nothing that lies elsewhere, and a browser would not fetch it.
func TestPage(t *testing.T) {
	is := is.New(t)
	a := get(openapi.PagePath)
	is.Equal(a.Code, http.StatusOK)
	is.True(strings.HasPrefix(a.Header().Get("Content-Type"), "text/html"))
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'",
		"frame-ancestors 'none'"} {
		is.True(strings.Contains(a.Header().Get("Content-Security-Policy"), part))
	}
	is.True(!strings.Contains(a.Body.String(), "//")) // no address of another host
	for _, m := range regexp.MustCompile(`(?:src|href|spec-url)="([^":]+)"`).FindAllStringSubmatch(a.Body.String(),
		-1) {
		is.Equal(get("/"+m[1]).Code, http.StatusOK)
		is.True(openapi.Serves("/" + m[1]))
	}
}

// rapidoc is the SHA-256 of dist/rapidoc-min.js in the npm package rapidoc 9.3.8.
const rapidoc = "affbd173a65e870e18f392cca963113bcdafb6e50e88cd2f6a834a65b22db94d"

// The script is the published one, whether it is sent compressed or not.
func TestScript(t *testing.T) {
	is := is.New(t)
	zipped, plain := get("/docs/rapidoc-min.js", "Accept-Encoding", "gzip, br"), get("/docs/rapidoc-min.js")
	is.Equal(zipped.Header().Get("Content-Encoding"), "gzip")
	is.True(zipped.Body.Len() < 250<<10)
	z, err := gzip.NewReader(zipped.Body)
	is.NoErr(err)
	b, err := io.ReadAll(z)
	is.NoErr(err)
	is.Equal(plain.Header().Get("Content-Encoding"), "")
	is.True(bytes.Equal(b, plain.Body.Bytes()))
	is.Equal(fmt.Sprintf("%x", sha256.Sum256(b)), rapidoc)
	is.True(strings.Contains(get("/docs/licenses.txt").Body.String(), "Permission is hereby granted"))
}

func TestOtherRequests(t *testing.T) {
	is := is.New(t)
	for _, path := range []string{"/docs/", "/docs/../openapi.json", "/docs/page/docs.html"} {
		is.Equal(get(path).Code, http.StatusNotFound)
	}
	for method, status := range map[string]int{http.MethodPost: http.StatusMethodNotAllowed,
		http.MethodOptions: http.StatusNoContent} {
		w := httptest.NewRecorder()
		openapi.Handler("").ServeHTTP(w, httptest.NewRequest(method, openapi.DocumentPath, nil))
		is.Equal(w.Code, status)
		is.Equal(w.Header().Get("Allow"), "GET, HEAD, OPTIONS")
	}
	is.True(!openapi.Serves("/docsx") && !openapi.Serves("/api/v1/models") && openapi.Serves("/docs/x"))
}
