package assets

import (
	"io/fs"
	"path"
	"regexp"
	"testing"

	"github.com/matryer/is"
)

// Every style takes its colours, its sizes of text, its space and its corners from tokens.css, so that a page cannot
// drift from the others.
func TestStylesUseTokens(t *testing.T) {
	is := is.New(t)
	own := regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b[^-{]*[;}]|` + // a colour, and not a selector
		`(?:^|[\s{;])(?:font-size|border-radius|(?:padding|margin|gap|column-gap|row-gap)(?:-[a-z-]+)?):[^;}]*\b\d*\.?\d+rem`)
	calls := regexp.MustCompile(`[a-z-]+\([^()]*\)`) // such as calc(100% - 2rem), which computes a place
	names, err := fs.Glob(static, "static/*.css")
	is.NoErr(err)
	for _, name := range names {
		if base := path.Base(name); base == "tokens.css" || base == "pico.min.css" {
			continue
		}
		b, err := static.ReadFile(name)
		is.NoErr(err)
		text := calls.ReplaceAllString(string(b), "f()")
		for _, literal := range own.FindAllString(text, -1) {
			t.Errorf("%s: %q: take it from tokens.css", path.Base(name), literal)
		}
	}
}
