package frame

import (
	"fmt"
	"net/http"

	"github.com/imagegend/imagegend/imagegen/console/internal/assets"
)

// asset is a template function: the address of a static file. A name that does not exist is an error of the template.
func (f *Frame) asset(name string) (string, error) {
	a, err := assets.Load()
	if _, ok := a.Files[name]; err == nil && !ok {
		err = fmt.Errorf("console: there is no static file %q", name)
	}
	return f.Address("static", a.Version, name), err
}

// brandFile is the address of the first of these files that the brand has; "" if it has none of them.
func (f *Frame) brandFile(names ...string) string {
	for _, name := range names {
		if _, ok := f.brandFiles.Files[name]; ok {
			return f.Address("brand", f.brandFiles.Version, name)
		}
	}
	return ""
}

// brandPolicy is the Content-Security-Policy of a brand's files. Opened by itself, an SVG is a document, which could
// run scripts: neither the sandbox nor the sources let it.
const brandPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

// serveFile serves, to everybody, the file of a set that the path names, with a policy of its own unless that is "". An
// address with another version is answered as not found, rather than with a file that the browser would cache under it.
func (f *Frame) serveFile(load func() (assets.Set, error), policy string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s, err := load()
		file, ok := s.Files[r.PathValue("file")]
		if err != nil || !ok || r.PathValue("version") != s.Version {
			f.handlerOf(Route{Handler: NotFound}).ServeHTTP(w, r)
			return
		}
		if policy != "" {
			w.Header().Set("Content-Security-Policy", policy)
		}
		file.Serve(w, r)
	}
}
