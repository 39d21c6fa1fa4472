package upstreamtest_test

import (
	"bytes"
	"image/png"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
)

func TestPNG(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {8, 3}, {1001, 667}} {
		is := is.New(t)
		picture, err := png.Decode(bytes.NewReader(upstreamtest.PNG(size[0], size[1])))
		is.NoErr(err)
		is.Equal(picture.Bounds().Dx(), size[0])
		is.Equal(picture.Bounds().Dy(), size[1])
	}
}
