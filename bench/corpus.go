package main

import (
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// picture is one of the corpus: an image as upstreams send them.
type picture struct {
	name   string
	edge   int // pixels, of both edges
	encode func(w io.Writer, edge int) error
}

var (
	least = picture{"smallest PNG, 226 bytes", 1024, func(w io.Writer, edge int) error {
		encoder := png.Encoder{CompressionLevel: png.BestCompression}
		return encoder.Encode(w, image.NewPaletted(image.Rect(0, 0, edge, edge), color.Palette{color.Black}))
	}}
	photo  = picture{"PNG 1024², 1.4 MB", 1024, encodePNG}
	poster = picture{"PNG 4096², 22 MB", 4096, encodePNG}
	jpg    = picture{"JPEG 1024², 300 KB", 1024, func(w io.Writer, edge int) error {
		return jpeg.Encode(w, noisy(edge), &jpeg.Options{Quality: 98})
	}}
	webp = picture{"WebP 1024², 1.6 MB", 1024, encodeWebP}
)

func encodePNG(w io.Writer, edge int) error { return png.Encode(w, noisy(edge)) }

// grain is how many values the noise of noisy has.
const grain = 6

// noisy is a slope with a little noise, and so compresses about as well as a photograph.
func noisy(edge int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, edge, edge))
	rand.NewChaCha8([32]byte{1}).Read(m.Pix)
	for i := 0; i < len(m.Pix); i += 4 {
		x, y := i/4%edge, i/4/edge
		slope := byte((x + y) * 100 / edge)
		for c := range 3 {
			m.Pix[i+c] = slope + m.Pix[i+c]%grain
		}
		m.Pix[i+3] = 0xff
	}
	return m
}

// picture writes an image of the corpus, unless that has been done, and returns its path.
func (b *bench) picture(p picture) (string, error) {
	path := filepath.Join(b.dir, p.name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if err := p.encode(f, p.edge); err != nil {
		return "", fmt.Errorf("%s: %w", p.name, err)
	}
	return path, f.Sync()
}
