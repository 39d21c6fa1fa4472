package console_test

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/console"
)

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><circle r="2"/></svg>`

var branded = regexp.MustCompile(`"(/console/brand/[^"]+)"`)

// Every page has the name, the logo and the colour of the operator.
func TestBrand(t *testing.T) {
	s := open(t, func(c *console.Config) {
		c.Brand = console.Brand{Name: "Atelier <Nord>", Logo: []byte(drawing), Accent: "#0a7d5a"}
	})
	v := s.operator()
	for _, a := range []answer{s.visitor().get("signin"), v.get("playground"), v.get("users"), v.get("nothing")} {
		s.is.True(a.has(" · Atelier &lt;Nord&gt;</title>", `/logo.svg"`, `/brand.css"`))
		s.is.True(!a.has("imagegend</"))
	}
	s.is.True(v.get("account").has(`<img class="mark" src="/console/brand/`, "<span>Atelier &lt;Nord&gt;</span>"))
	files := branded.FindAllStringSubmatch(s.visitor().get("signin").body, -1)
	s.is.True(len(files) >= 3)
	for _, f := range files {
		a := s.visitor().get(f[1]) // nobody is signed in
		s.is.Equal(a.StatusCode, http.StatusOK)
		s.is.Equal(a.Header.Get("Cache-Control"), "public, max-age=31536000, immutable")
		s.is.Equal(a.Header.Get("X-Content-Type-Options"), "nosniff")
		s.is.Equal(a.Header.Get("Content-Security-Policy"),
			"default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox")
		logo := strings.HasSuffix(f[1], ".svg")
		s.is.Equal(a.body == drawing, logo)
		s.is.Equal(a.Header.Get("Content-Type"), map[bool]string{true: "image/svg+xml",
			false: "text/css; charset=utf-8"}[logo])
	}
	version := strings.Split(files[0][1], "/")[3]
	for _, path := range []string{"brand/" + version + "/logo.png", "brand/0000000000000000/logo.svg", "brand/" +
		version + "/%2e%2e"} {
		s.is.Equal(v.get(path).StatusCode, http.StatusNotFound)
	}
}

func TestBrandWithAPNG(t *testing.T) {
	var b bytes.Buffer
	is.New(t).NoErr(png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))))
	s := open(t, func(c *console.Config) { c.Brand.Logo = b.Bytes() })
	page := s.visitor().get("signin")
	s.is.True(page.has(" · imagegend</title>"))
	s.is.True(!page.has("brand.css"))
	a := s.visitor().get(branded.FindStringSubmatch(page.body)[1])
	s.is.Equal(a.Header.Get("Content-Type"), "image/png")
	s.is.Equal(a.body, b.String())
}

// An error names every field of a brand that is wrong.
func TestBrandRefused(t *testing.T) {
	is := is.New(t)
	_, err := console.New(console.Config{Brand: console.Brand{Name: " x", Logo: []byte("<svg/>"), Accent: "green"}})
	is.True(err != nil)
	for _, wrong := range []string{"Config.Brand.Name: ", "Accent: the accent is a colour",
		"Logo: its <svg> lacks xmlns"} {
		is.True(strings.Contains(err.Error(), wrong))
	}
	for name, fine := range map[string]bool{"": true, "Ätelier 北": true, strings.Repeat("ä", 40): true,
		strings.Repeat("ä", 41): false, "a\nb": false, "a\xff": false} {
		is.Equal(console.Brand{Name: name}.Check() == nil, fine)
	}
}
