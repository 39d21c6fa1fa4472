package openapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/internal/httpguard"
)

// The paths at which Handler serves the document and the page. The page also needs the paths below
// PagePath.
const (
	DocumentPath = "/openapi.json"
	PagePath     = "/docs"

	scriptPath   = PagePath + "/rapidoc-min.js"
	licensesPath = PagePath + "/licenses.txt"
)

// RapiDoc 9.3.8, as its package in the npm registry has it, compressed.
var (
	//go:embed page/rapidoc-min.js.gz
	script []byte
	//go:embed page/licenses.txt
	licenses []byte
	//go:embed page/docs.html
	page []byte
)

// policy lets the page read nothing but this service. RapiDoc has styles in its elements.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const allowed = "GET, HEAD, OPTIONS"

// file is what is served at one path.
type file struct {
	contentType string
	body        []byte
	zipped      bool // body is compressed with gzip
	etag        string
}

// Handler returns a handler that serves the document at DocumentPath and the page at PagePath, and
// answers everything else with 404. baseURL is as for At. The handler is safe for concurrent use,
// needs no key, and reads only the path and the header of a request. It sets the deadlines of each
// connection itself, like that of package httpapi.
func Handler(baseURL string) http.Handler {
	files := map[string]file{
		DocumentPath: newFile("application/json", At(baseURL)),
		PagePath:     newFile("text/html; charset=utf-8", page),
		scriptPath:   newFile("text/javascript; charset=utf-8", script),
		licensesPath: newFile("text/plain; charset=utf-8", licenses),
	}
	return serving.WithDeadlines(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpguard.Begin(w, r)
		f, ok := files[r.URL.Path]
		switch {
		case !ok:
			refuse(w, http.StatusNotFound, "notFound", "the requested resource was not found")
		case r.Method == http.MethodOptions:
			w.Header().Set("Allow", allowed)
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusNoContent)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", allowed)
			refuse(w, http.StatusMethodNotAllowed, "methodNotAllowed", "this address takes GET, HEAD only")
		default:
			f.serveFile(w, r)
		}
	}))
}

// Serves reports whether a request for this path should go to Handler.
func Serves(path string) bool {
	return path == DocumentPath || path == PagePath || strings.HasPrefix(path, PagePath+"/")
}

// At returns the document, as JSON, for a service that callers reach at baseURL, such as
// https://images.example.com; "": at the address from which they read the document. The caller must
// not change it.
func At(baseURL string) []byte {
	if baseURL == "" {
		return document
	}
	url, _ := json.Marshal(strings.TrimRight(baseURL, "/")) // a string always encodes
	return bytes.Replace(document, []byte(`"servers": [{ "url": "/" }]`), fmt.Appendf(nil, `"servers": [{ "url": %s }]`,
		url), 1)
}

func newFile(contentType string, body []byte) file {
	zipped := bytes.HasPrefix(body, []byte{0x1f, 0x8b})
	return file{contentType, body, zipped, fmt.Sprintf(`"%x"`, sha256.Sum256(body))}
}

func (f file) serveFile(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache") // may be kept, but is asked for each time: cheap with ETag
	h.Set("ETag", f.etag)
	if f.zipped {
		h.Set("Vary", "Accept-Encoding")
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			f.serveUnzipped(w, r)
			return
		}
		h.Set("Content-Encoding", "gzip")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
}

// serveUnzipped is for the few clients that do not accept gzip. It decompresses for each of them.
func (f file) serveUnzipped(w http.ResponseWriter, r *http.Request) {
	w.Header().Del("ETag") // it names other bytes
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	z, err := gzip.NewReader(bytes.NewReader(f.body))
	if err == nil {
		_, err = io.Copy(w, z)
	}
	if err != nil {
		panic(http.ErrAbortHandler) // nobody may take it for the whole script
	}
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"message":%q,"code":%q}}`+"\n", message, code)
}
