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

// Brand is the name and look of the service. The zero value is the console's own.
type Brand struct {
	Name string // at most 40 printable characters; "": imagegend
	Logo []byte // an SVG, or a PNG of at most 2048 × 2048 pixels; at most 64 KiB; nil: the console's own
	// Accent is a colour in hexadecimal, such as 0a7d5a. The pages darken or lighten it where that is necessary for
	// the contrast. "": the console's own.
	Accent string
}

// MaxLogo is the maximum size of a Brand's logo, in bytes.
const MaxLogo = brand.MaxLogo

const (
	ownName = "imagegend"
	maxName = 40
)

// Check returns an error that names everything that is wrong with a brand; nil if nothing is. [New] calls it. Each
// message begins with the name of the field.
func (b Brand) Check() error {
	_, err := b.files()
	return errors.Join(b.checkName(), err)
}

// checkName also refuses what could not be seen, such as control characters: they would confuse a title.
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

// files returns the files that the brand needs, by name. There are none for what is left to the console's own.
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
	version string // a hash of the files, in their addresses; as for assets
	files   map[string]asset
}

// newBranding expects a brand that passed Check.
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

// brandFile is the address of the first of these files that the brand has; "" if it has none of them.
func (c *Console) brandFile(names ...string) string {
	for _, name := range names {
		if _, ok := c.brand.files[name]; ok {
			return c.path("brand", c.brand.version, name)
		}
	}
	return ""
}

// brandPolicy is the Content-Security-Policy of a brand's files. Opened by itself, an SVG is a document, which could
// run scripts; the sandbox prevents that even if brand.Logo has overlooked one.
const brandPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

// serveBrand serves a file of the brand, to everybody: the sign-in page shows it.
func (c *Console) serveBrand(w http.ResponseWriter, r *http.Request) {
	f, ok := c.brand.files[r.PathValue("file")]
	if !ok || r.PathValue("version") != c.brand.version {
		c.handler(route{}, (*Console).unknown).ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", brandPolicy)
	f.serve(w, r)
}
