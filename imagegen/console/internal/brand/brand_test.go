package brand

import (
	"bytes"
	"image"
	"image/png"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

var colours = regexp.MustCompile(`#[0-9a-f]{6}`)

// Text in any colour and on any colour is readable, in light and in dark.
func TestShades(t *testing.T) {
	const step = 0x33
	for red := 0; red <= 0xff; red += step {
		for green := 0; green <= 0xff; green += step {
			for blue := 0; blue <= 0xff; blue += step {
				c := hex(uint32(red<<16 | green<<8 | blue))
				for _, g := range []ground{light, dark} {
					s := g.shades(c)
					for what, ratio := range map[string]float64{
						"text on the page": contrast(s.text, g.sunken), "text on an article": contrast(s.text,
							g.surface), "text on soft": contrast(s.text, s.soft),
						"text on a button": contrast(s.on, s.solid), "text on a button pointed at": contrast(s.on,
							s.strong),
					} {
						if ratio < textContrast {
							t.Errorf("%s: %s has a contrast of %.2f", c, what, ratio)
						}
					}
					if ratio := contrast(s.solid, g.sunken); ratio < edgeContrast {
						t.Errorf("%s: a button has a contrast of %.2f", c, ratio)
					}
				}
			}
		}
	}
}

// A readable colour is not changed.
func TestStyle(t *testing.T) {
	is := is.New(t)
	css, err := styleSheet("0A6B4D")
	is.NoErr(err)
	same, err := styleSheet("#0a6b4d")
	is.NoErr(err)
	is.Equal(css, same)
	found := colours.FindAllString(css, -1)
	is.Equal(len(found), 10)
	is.Equal(found[0], "#0a6b4d")
	is.True(found[1] != "#0a6b4d") // in the dark it is too dark for text
	is.Equal(found[2], "#0a6b4d")
	for _, wrong := range []string{"", "#", "green", "##0a7d5", "#0a7d5", "#0a7d5az", "#-a7d5a", "#0a7d5a;}", "#١١١"} {
		_, err := styleSheet(wrong)
		is.True(err != nil)
	}
}

func drawn(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	is.New(t).NoErr(png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))))
	return b.Bytes()
}

func TestLogo(t *testing.T) {
	is := is.New(t)
	for _, svg := range []string{
		`<svg xmlns="http://www.w3.org/2000/svg"/>`,
		"<?xml version=\"1.0\"?>\n<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd\">\n<!-- drawn -->\n" +
			`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><style>.a{fill:red}</style><use xlink:href="#a"/><image href="data:image/png;base64,AA=="/></svg>`,
	} {
		mediaType, err := logoType([]byte(svg))
		is.NoErr(err)
		is.Equal(mediaType, "image/svg+xml")
	}
	mediaType, err := logoType(drawn(t, 64, 32))
	is.NoErr(err)
	is.Equal(mediaType, "image/png")
}

func TestLogoRefuses(t *testing.T) {
	svg := func(inside string) string { return `<svg xmlns="http://www.w3.org/2000/svg">` + inside + `</svg>` }
	for logo, why := range map[string]string{
		"":                             "it is empty",
		strings.Repeat(" ", MaxLogo+1): "65536 at most",
		"GIF89a":                       "neither an SVG nor a PNG",
		"{}":                           "neither an SVG nor a PNG",
		string(drawn(t, 8, 8)[:50]):    "cannot be read as one",
		string(drawn(t, 2049, 1)):      "2048 × 2048 at most",
		"<html></html>":                "its root is <html>",
		`<svg></svg>`:                  "lacks xmlns",
		svg("<g>"):                     "cannot be read as an SVG",
		`<!DOCTYPE svg [<!ENTITY a "b">]>` + svg("&a;"): "cannot be read as an SVG",
	} {
		_, err := logoType([]byte(logo))
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.60q: %v", logo, err)
		}
	}
}
