package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// picture writes a PNG of noise that is edge pixels wide and high, uncompressed, and returns its path.
// Noise of 17 pixels is 1 KB, of 590, 1 MB.
func (b *bench) picture(edge int) (string, error) {
	m := image.NewNRGBA(image.Rect(0, 0, edge, edge))
	noise := rand.NewChaCha8([32]byte{1})
	noise.Read(m.Pix)
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 0xff
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&out, m); err != nil {
		return "", err
	}
	path := filepath.Join(b.dir, fmt.Sprintf("noise-%d.png", edge))
	return path, os.WriteFile(path, out.Bytes(), 0o600)
}
