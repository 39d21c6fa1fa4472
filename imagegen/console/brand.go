package console

import "github.com/imagegend/imagegend/imagegen/console/internal/brand"

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

// Check returns an error that names everything that is wrong with a brand; nil if nothing is. [New] calls it. Each
// message begins with the name of the field.
func (b Brand) Check() error { return brand.Brand(b).Check() }
