package console

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen/console/internal/brand"
)

// Brand is what the pages show of whoever offers the service. The zero value is the console's own.
type Brand struct {
	Name   string // of the service, of at most 40 characters; "": imagegend
	Logo   []byte // an SVG, or a PNG of at most 2048 × 2048 pixels, of at most 64 KiB; nil: the console's own
	Accent string // a colour such as 0a7d5a, which is made lighter or darker where it could not be read; "": the console's own
}

// MaxLogo is the most bytes of a Brand's logo.
const MaxLogo = brand.MaxLogo

const (
	ownName = "imagegend"
	maxName = 40
)

// Check says what is wrong with a brand, as New does, beginning with the field.
func (b Brand) Check() error {
	_, err := b.files()
	return errors.Join(b.checkName(), err)
}

func (b Brand) checkName() error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if utf8.RuneCountInString(b.Name) > maxName || !utf8.ValidString(b.Name) || strings.TrimSpace(b.Name) != b.Name || strings.ContainsFunc(b.Name, unprintable) {
		//lint:ignore ST1005 the name of a field begins it
		return fmt.Errorf("Name: it has at most %d characters of printable text without space around it; got %.60q", maxName, b.Name)
	}
	return nil
}

// The files of a brand, by the names under which they are served.
const (
	brandStyle = "brand.css"
	brandSVG   = "logo.svg"
	brandPNG   = "logo.png"
)

// files are those of the brand: none, where the console's own serve.
func (b Brand) files() (map[string]asset, error) {
	files := map[string]asset{}
	var errs []error
	if b.Accent != "" {
		css, err := brand.Style(b.Accent)
		if err != nil {
			//lint:ignore ST1005 the name of a field begins it
			errs = append(errs, fmt.Errorf("Accent: %w", err))
		}
		files[brandStyle] = asset{contentType: "text/css; charset=utf-8", plain: []byte(css), zipped: zipped([]byte(css))}
	}
	if b.Logo != nil {
		mediaType, err := brand.Logo(b.Logo)
		if err != nil {
			//lint:ignore ST1005 the name of a field begins it
			errs = append(errs, fmt.Errorf("Logo: %w", err))
		}
		name := map[bool]string{true: brandPNG, false: brandSVG}[mediaType == "image/png"]
		files[name] = asset{contentType: mediaType, plain: b.Logo, zipped: zipped(b.Logo)}
	}
	return files, errors.Join(errs...)
}

// branding is a brand as it is served.
type branding struct {
	name    string
	version string // of the files: it stands in their addresses, so that they never change
	files   map[string]asset
}

func newBranding(b Brand) branding {
	files, _ := b.files() // New has checked them
	s := branding{name: b.Name, files: files}
	if s.name == "" {
		s.name = ownName
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d\n%s", b.Accent, len(b.Logo), b.Logo))
	s.version = fmt.Sprintf("%x", sum[:8])
	return s
}

// brandFile is the address of the first of the files that there is; "": of none.
func (c *Console) brandFile(names ...string) string {
	for _, name := range names {
		if _, ok := c.brand.files[name]; ok {
			return c.path("brand", c.brand.version, name)
		}
	}
	return ""
}

// brandPolicy has what is opened by itself do nothing but be looked at: an SVG is a document then.
const brandPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

// serveBrand serves a file of the brand.
func (c *Console) serveBrand(w http.ResponseWriter, r *http.Request) {
	f, ok := c.brand.files[r.PathValue("file")]
	if !ok || r.PathValue("version") != c.brand.version {
		c.handler(route{}, (*Console).unknown).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", brandPolicy)
	f.serve(w, r)
}
