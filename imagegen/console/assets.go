package console

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

// asset is a static file as it is sent, plain or compressed.
type asset struct {
	contentType   string
	plain, zipped []byte
}

// assets are the embedded static files.
type assets struct {
	// version is a hash of all files. It is part of their addresses: what an address leads to never changes, so
	// browsers may cache it for ever.
	version string
	files   map[string]asset
}

// loadAssets reads and compresses the static files, once per process.
var loadAssets = sync.OnceValues(func() (assets, error) {
	a := assets{files: map[string]asset{}}
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
		a.files[strings.TrimPrefix(name, "static/")] = asset{contentType: contentType(name), plain: b, zipped: zipped(b)}
		return nil
	})
	a.version = fmt.Sprintf("%x", sum.Sum(nil)[:8])
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

// asset is a template function: the address of a static file. A name that does not exist is an error of the template.
func (c *Console) asset(name string) (string, error) {
	a, err := loadAssets()
	if _, ok := a.files[name]; err == nil && !ok {
		err = fmt.Errorf("console: there is no static file %q", name)
	}
	return c.path("static", a.version, name), err
}

// static serves a static file. An address with another version is answered as not found, rather than with a file that
// the browser would cache under it.
func (c *Console) static(w http.ResponseWriter, r *http.Request) {
	a, err := loadAssets()
	f, ok := a.files[r.PathValue("file")]
	if err != nil || !ok || r.PathValue("version") != a.version {
		c.handler(route{}, (*Console).unknown).ServeHTTP(w, r)
		return
	}
	f.serve(w, r)
}

// serve answers with the file, for browsers to cache for ever: a changed file has another address.
func (f asset) serve(w http.ResponseWriter, r *http.Request) {
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
	w.Write(body) // nobody is there to tell if the browser has gone
}
