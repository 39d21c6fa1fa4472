package main

import (
	"bytes"
	"image"
	"testing"

	"github.com/matryer/is"
	_ "golang.org/x/image/webp"
)

// The corpus holds valid pictures, as large as their names say.
func TestCorpus(t *testing.T) {
	for _, p := range []struct {
		picture
		bytes int
	}{{least, 226}, {photo, 1_400_000}, {jpg, 300_000}, {webp, 1_600_000}} {
		t.Run(p.name, func(t *testing.T) {
			is := is.New(t)
			var b bytes.Buffer
			is.NoErr(p.encode(&b, p.edge))
			t.Logf("%d bytes", b.Len())
			is.True(b.Len()*100 > p.bytes*95 && b.Len()*100 < p.bytes*105)
			m, _, err := image.Decode(&b)
			is.NoErr(err)
			is.Equal(m.Bounds(), image.Rect(0, 0, p.edge, p.edge))
		})
	}
}
