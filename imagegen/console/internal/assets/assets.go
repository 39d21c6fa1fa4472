// Package assets has the static files of the console, and serves them.
package assets

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed static
var static embed.FS

// File is a static file as it is sent, plain or compressed.
type File struct {
	contentType   string
	plain, zipped []byte
}

// NewFile compresses a file.
func NewFile(contentType string, content []byte) File {
	return File{contentType, content, zipped(content)}
}

// Set is files under a version.
type Set struct {
	// Version is a hash of all files. It is part of their addresses: what an address leads to never changes, so
	// browsers may cache it for ever.
	Version string
	Files   map[string]File
}

// Load reads and compresses the static files, once per process.
var Load = sync.OnceValues(func() (Set, error) {
	a := Set{Files: map[string]File{}}
	sum := sha256.New()
	err := fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		// With name and length, no two sets of files are hashed alike.
		fmt.Fprintf(sum, "%s %d\n%s", name, len(b), b)
		a.Files[strings.TrimPrefix(name, "static/")] = NewFile(contentType(name), b)
		return nil
	})
	a.Version = fmt.Sprintf("%x", sum.Sum(nil)[:8])
	return a, err
})

// contentType returns the media type of a static file. Types that mime.TypeByExtension takes from the machine's own
// tables are fixed here, so that they are the same everywhere.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".svg":
		return "image/svg+xml"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// zipped returns b compressed by gzip.
func zipped(b []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level exists
	z.Write(b)                                              // into memory
	z.Close()
	return out.Bytes()
}

// Serve answers with the file, for browsers to cache for ever: a changed file has another address.
func (f File) Serve(w http.ResponseWriter, r *http.Request) {
	body := f.plain
	h := w.Header()
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Type", f.contentType)
	h.Set("Vary", "Accept-Encoding")
	// Nobody asks for gzip;q=0 in practice. Ranges are not served: the files are small.
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.zipped
	}
	h.Set("Content-Length", fmt.Sprint(len(body)))
	w.Write(body) // an error means that the browser has gone
}
