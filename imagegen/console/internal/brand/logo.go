package brand

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"strings"
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

// Logo returns the media type of a logo, an SVG or a PNG, or says what is wrong with it. An SVG that could do more
// than be looked at is refused. Where a page shows it as an image it could not, but whoever opens its address has it
// as a document.
func Logo(b []byte) (mediaType string, err error) {
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

// checkSVG reads the file token by token, without resolving entities or namespaces: elements are refused whatever their
// prefix, and a document that could define entities is refused before any of them is used.
func checkSVG(b []byte) error {
	d := xml.NewDecoder(bytes.NewReader(b))
	elements := 0
	for {
		t, err := d.RawToken()
		switch {
		case errors.Is(err, io.EOF) && elements == 0:
			return errors.New("it is neither an SVG nor a PNG")
		case errors.Is(err, io.EOF):
			return wellFormed(b)
		case err != nil && elements == 0:
			return errors.New("it is neither an SVG nor a PNG")
		case err != nil:
			return fmt.Errorf("it cannot be read as an SVG: %w", err)
		}
		switch t := t.(type) {
		case xml.Directive:
			if !strings.HasPrefix(strings.ToUpper(string(t)), "DOCTYPE") || bytes.ContainsRune(t, '[') {
				return errors.New("it declares entities; save it as a plain SVG")
			}
		case xml.StartElement:
			if elements++; elements == 1 && t.Name.Local != "svg" {
				return fmt.Errorf("its root is <%s>, and that of an SVG is <svg>", t.Name.Local)
			}
			if err := checkElement(t); err != nil {
				return err
			}
		}
	}
}

// wellFormed finds what RawToken does not check: elements that are not closed, and a root outside the namespace of SVG.
func wellFormed(b []byte) error {
	var root struct{ XMLName xml.Name }
	if err := xml.Unmarshal(b, &root); err != nil {
		return fmt.Errorf("it cannot be read as an SVG: %w", err)
	}
	if root.XMLName.Space != svgSpace {
		return fmt.Errorf("its <svg> lacks xmlns=%q, without which browsers show nothing", svgSpace)
	}
	return nil
}

// active are the elements, in lower case, that run something or bring in something other than a drawing.
var active = []string{"script", "foreignobject", "iframe", "object", "embed", "audio", "video", "handler", "listener"}

// checkElement refuses active elements, handlers of events, and links to anything outside the file.
func checkElement(e xml.StartElement) error {
	for _, name := range active {
		if strings.EqualFold(e.Name.Local, name) {
			return fmt.Errorf("it has <%s>; a logo is a drawing alone", e.Name.Local)
		}
	}
	for _, a := range e.Attr {
		name := strings.ToLower(a.Name.Local)
		if strings.HasPrefix(name, "on") {
			return fmt.Errorf("it has the attribute %s, which runs a script; a logo is a drawing alone", a.Name.Local)
		}
		if name == "href" && !strings.HasPrefix(a.Value, "#") && !strings.HasPrefix(a.Value, "data:image/") {
			return fmt.Errorf("it leads to %.60q; a logo stands for itself alone", a.Value)
		}
	}
	return nil
}
