package brand

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
)

const (
	// MaxLogo is the largest size of a logo in bytes. Every page loads it.
	MaxLogo = 64 << 10
	// maxEdge is the longest edge of a PNG in pixels: a small file can decode to an enormous image.
	maxEdge = 2048
)

const (
	pngStart = "\x89PNG\r\n\x1a\n"
	svgSpace = "http://www.w3.org/2000/svg"
)

// logoType returns the media type of a logo, an SVG or a PNG, or says what is wrong with it. What else an SVG
// holds does not matter: pages show it as an image, and its address has a policy under which it runs and loads nothing.
func logoType(b []byte) (mediaType string, err error) {
	switch {
	case len(b) == 0:
		return "", errors.New("it is empty")
	case len(b) > MaxLogo:
		return "", fmt.Errorf("it has %d bytes; a logo has %d at most", len(b), MaxLogo)
	case bytes.HasPrefix(b, []byte(pngStart)):
		return "image/png", checkPNG(b)
	}
	return "image/svg+xml", checkSVG(b)
}

// checkPNG decodes the image, after its size is known to be bounded.
func checkPNG(b []byte) error {
	c, err := png.DecodeConfig(bytes.NewReader(b))
	if err == nil && (c.Width > maxEdge || c.Height > maxEdge) {
		return fmt.Errorf("it is %d × %d pixels; a logo is %d × %[3]d at most", c.Width, c.Height, maxEdge)
	}
	if err == nil {
		_, err = png.Decode(bytes.NewReader(b))
	}
	if err != nil {
		return fmt.Errorf("it begins as a PNG and cannot be read as one: %w", err)
	}
	return nil
}

// checkSVG refuses what browsers would not show: elements that are not closed, and a root that is not <svg> in the
// namespace of SVG. Of other entities than XML's own it knows none.
func checkSVG(b []byte) error {
	var root struct{ XMLName xml.Name }
	err := xml.Unmarshal(b, &root)
	switch name := root.XMLName; {
	case name.Local == "":
		return errors.New("it is neither an SVG nor a PNG")
	case err != nil:
		return fmt.Errorf("it cannot be read as an SVG: %w", err)
	case name.Local != "svg":
		return fmt.Errorf("its root is <%s>, and that of an SVG is <svg>", name.Local)
	case name.Space != svgSpace:
		return fmt.Errorf("its <svg> lacks xmlns=%q, without which browsers show nothing", svgSpace)
	}
	return nil
}
