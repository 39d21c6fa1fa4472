package brand

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen/console/internal/assets"
)

// Brand is the name and look of the service, as console.Brand describes it.
type Brand struct {
	Name   string
	Logo   []byte
	Accent string
}

const (
	ownName = "imagegend"
	maxName = 40
)

// Check returns an error that names everything that is wrong with a brand; nil if nothing is. Each message begins with
// the name of the field.
func (b Brand) Check() error {
	_, err := b.files()
	return errors.Join(b.checkName(), err)
}

// checkName also refuses what could not be seen, such as control characters: they would confuse a title.
func (b Brand) checkName() error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if utf8.RuneCountInString(b.Name) > maxName || !utf8.ValidString(b.Name) || strings.TrimSpace(b.Name) != b.Name ||
		strings.ContainsFunc(b.Name, unprintable) {
		//lint:ignore ST1005 the name of a field begins it
		return fmt.Errorf("Name: it has at most %d characters of printable text without space around it; got %.60q",
			maxName, b.Name)
	}
	return nil
}

// The files of a brand, by the names under which they are served.
const (
	StyleFile = "brand.css"
	SVGFile   = "logo.svg"
	PNGFile   = "logo.png"
)

// files returns the files that the brand needs, by name. There are none for what is left to the console's own.
func (b Brand) files() (map[string]assets.File, error) {
	files := map[string]assets.File{}
	var errs []error
	if b.Accent != "" {
		css, err := styleSheet(b.Accent)
		if err != nil {
			//lint:ignore ST1005 the name of a field begins it
			errs = append(errs, fmt.Errorf("Accent: %w", err))
		}
		files[StyleFile] = assets.NewFile("text/css; charset=utf-8", []byte(css))
	}
	if b.Logo != nil {
		mediaType, err := logoType(b.Logo)
		if err != nil {
			//lint:ignore ST1005 the name of a field begins it
			errs = append(errs, fmt.Errorf("Logo: %w", err))
		}
		name := map[bool]string{true: PNGFile, false: SVGFile}[mediaType == "image/png"]
		files[name] = assets.NewFile(mediaType, b.Logo)
	}
	return files, errors.Join(errs...)
}

// DisplayName is the name that pages show.
func (b Brand) DisplayName() string { return cmp.Or(b.Name, ownName) }

// Files returns the files of a brand that passed Check.
func (b Brand) Files() assets.Set {
	files, _ := b.files()
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d\n%s", b.Accent, len(b.Logo), b.Logo))
	return assets.Set{Version: fmt.Sprintf("%x", sum[:8]), Files: files}
}
